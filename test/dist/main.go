// Command dist renders krew's manifest from .krew.yaml, as krew-release-bot does for a release, but
// with the checksums of archives that were built here.
//
//	go run ./test/dist -version v1.2.3 -from dist -o plugins/gc.yaml
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
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

// head is the comment above a manifest that is rendered here.
const head = `# Rendered from .krew.yaml by "make krew-manifest", with the checksums of what "make dist"
# built with %s. Edit .krew.yaml. Nothing is published at these addresses unless there is
# a release %s, so install with --archive: see docs/releasing.md.
`

func main() {
	version := flag.String("version", "", "the version, for example v1.2.3")
	archives := flag.String("from", "dist", "the folder of the archives")
	partial := flag.Bool("partial", false, "give a missing archive a checksum that no file has")
	out := flag.String("o", "plugins/gc.yaml", "the file to write: the name of the plugin, and .yaml")
	flag.Parse()
	if err := write(*version, *archives, *partial, *out); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(version, archives string, partial bool, out string) error {
	text, err := os.ReadFile(".krew.yaml")
	if err != nil {
		return fmt.Errorf("read the template of the manifest: %w", err)
	}
	rendered, err := render(string(text), strings.TrimSuffix(filepath.Base(out), ".yaml"), version, func(archive string) (string, error) {
		data, err := os.ReadFile(filepath.Join(archives, archive))
		if partial && errors.Is(err, fs.ErrNotExist) {
			return strings.Repeat("f", sha256.Size*2), nil // a string of digits would be a number in YAML
		}
		return fmt.Sprintf("%x", sha256.Sum256(data)), err
	})
	if err != nil {
		return fmt.Errorf("render .krew.yaml: %w", err)
	}
	return os.WriteFile(out, append(fmt.Appendf(nil, head, runtime.Version(), version), rendered...), 0o644)
}

// The template defines the names of the plugin and of its program in these lines.
var (
	nameLine = regexp.MustCompile(`(\$name := )"[^"]*"`)
	fileLine = regexp.MustCompile(`(\$file := )"[^"]*"`)
)

// render renders the template for a plugin of that name. sum returns the checksum of an archive.
func render(text, name, version string, sum func(archive string) (string, error)) ([]byte, error) {
	text = nameLine.ReplaceAllString(text, `${1}"`+name+`"`)
	text = fileLine.ReplaceAllString(text, `${1}"kubectl-`+strings.ReplaceAll(name, "-", "_")+`"`)
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
	err = parsed.Execute(&out, struct{ TagName string }{version})
	return out.Bytes(), err
}
