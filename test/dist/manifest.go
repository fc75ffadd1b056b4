package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"text/template"
)

// rendering is what a manifest is rendered with.
type rendering struct {
	name, file, version string
	partial             bool
}

// unbuilt is a sum that nothing has. Digits alone would be a number in YAML.
var unbuilt = strings.Repeat("f", 64)

// head stands above a manifest that is rendered here. One of a release has none.
const head = `# Rendered from .krew.yaml by "make krew-manifest", with the sums of what "make dist"
# built here with %s: edit .krew.yaml. Nothing is published at these addresses unless
# there is a release %s, so install it with --archive; docs/releasing.md says how.
`

// write renders a template for what is in a folder, as krew-release-bot does for a release:
// that one fetches the archives to sum them up.
func (r rendering) write(template, folder, out string) error {
	sums, err := readSums(folder)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(template)
	if err != nil {
		return fmt.Errorf("read the template of the manifest: %w", err)
	}
	rendered, err := r.render(string(text), sums)
	if err != nil {
		return fmt.Errorf("render %s: %w", template, err)
	}
	if err := check(rendered, r); err != nil {
		return fmt.Errorf("check what %s renders to: %w", template, err)
	}
	rendered = append(fmt.Appendf(nil, head, runtime.Version(), r.version), rendered...)
	if err := os.WriteFile(out, rendered, 0o644); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

func (r rendering) render(text string, sums map[string]string) ([]byte, error) {
	text, err := r.rename(text)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("manifest").Funcs(template.FuncMap{
		"addURIAndSha": func(uri, _ string) (string, error) {
			sum, built := sums[path.Base(uri)]
			if !built && r.partial {
				sum = unbuilt
			} else if !built {
				return "", fmt.Errorf("%s is not built", path.Base(uri))
			}
			return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sum), nil
		},
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, struct{ TagName string }{r.version}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// The template says at its top what the plugin and its file are called.
var (
	nameLine = regexp.MustCompile(`\$name := "[^"]*"`)
	fileLine = regexp.MustCompile(`\$file := "[^"]*"`)
)

func (r rendering) rename(text string) (string, error) {
	for line, value := range map[*regexp.Regexp]string{nameLine: r.name, fileLine: r.file} {
		if n := len(line.FindAllString(text, -1)); n != 1 {
			return "", fmt.Errorf("it has %d lines with %s, want one", n, line)
		}
		definition, _, _ := strings.Cut(line.FindString(text), `"`)
		text = line.ReplaceAllLiteralString(text, fmt.Sprintf("%s%q", definition, value))
	}
	return text, nil
}
