package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"
)

// manifest has the values for the template of the manifest.
type manifest struct {
	name, file, version string
	archives            string // a folder
	partial             bool   // archives may be missing
}

// unbuilt is the checksum of a missing archive. A string of digits would be a number in YAML.
var unbuilt = strings.Repeat("f", 64)

// head is the comment above a manifest that is rendered here.
const head = `# Rendered from .krew.yaml by "make krew-manifest", with the checksums of what "make dist"
# built with %s. Edit .krew.yaml. Nothing is published at these addresses unless there is
# a release %s, so install with --archive: see docs/releasing.md.
`

func (m manifest) write(template, out string) error {
	text, err := os.ReadFile(template)
	if err != nil {
		return fmt.Errorf("read the template of the manifest: %w", err)
	}
	rendered, err := m.render(string(text), m.sum)
	if err != nil {
		return fmt.Errorf("render %s: %w", template, err)
	}
	rendered = append(fmt.Appendf(nil, head, runtime.Version(), m.version), rendered...)
	if err := os.WriteFile(out, rendered, 0o644); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// sum returns the checksum of an archive.
func (m manifest) sum(archive string) (string, error) {
	data, err := os.ReadFile(filepath.Join(m.archives, archive))
	if m.partial && errors.Is(err, fs.ErrNotExist) {
		return unbuilt, nil
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// render renders the template as krew-release-bot does for a release.
func (m manifest) render(text string, sum func(archive string) (string, error)) ([]byte, error) {
	text, err := m.rename(text)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("manifest").Funcs(template.FuncMap{
		"addURIAndSha": func(uri, _ string) (string, error) {
			sum, err := sum(path.Base(uri))
			return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sum), err
		},
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, struct{ TagName string }{m.version})
	return out.Bytes(), err
}

// The template defines the names of the plugin and of its file in these lines.
var (
	nameLine = regexp.MustCompile(`\$name := "[^"]*"`)
	fileLine = regexp.MustCompile(`\$file := "[^"]*"`)
)

func (m manifest) rename(text string) (string, error) {
	for line, value := range map[*regexp.Regexp]string{nameLine: m.name, fileLine: m.file} {
		if n := len(line.FindAllString(text, -1)); n != 1 {
			return "", fmt.Errorf("it has %d lines with %s, want one", n, line)
		}
		definition, _, _ := strings.Cut(line.FindString(text), `"`)
		text = line.ReplaceAllLiteralString(text, fmt.Sprintf("%s%q", definition, value))
	}
	return text, nil
}
