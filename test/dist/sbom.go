package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

const sbomSuffix = ".spdx.json"

// writeSBOM writes the SBOM of a program. The linker has recorded in the program which
// modules it consists of.
func writeSBOM(program, version string, at time.Time, out string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read how %s was built: %w", program, err)
	}
	name := strings.TrimSuffix(filepath.Base(out), sbomSuffix)
	d := newDocument(name, filepath.Base(program), version, fmt.Sprintf("%x", sha256.Sum256(data)), at)
	d.contain(compiler(info.GoVersion))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.contain(component(m))
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write SBOM: %w", err)
	}
	return nil
}

// component describes a module that the program contains.
func component(m *debug.Module) pkg {
	return pkg{
		Name: m.Path, VersionInfo: m.Version,
		DownloadLocation: "https://proxy.golang.org/" + escaped(m.Path) + "/@v/" + escaped(m.Version) + ".zip",
		SourceInfo:       "go.sum has " + m.Sum,
		ExternalRefs:     []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}},
	}
}

// compiler describes the Go that built the program; its standard library is in there.
func compiler(version string) pkg {
	number := strings.TrimPrefix(version, "go")
	return pkg{
		Name: "stdlib", VersionInfo: version, Supplier: "Organization: The Go Project",
		DownloadLocation: "https://go.dev/dl/" + version + ".src.tar.gz", LicenseDeclared: "BSD-3-Clause",
		ExternalRefs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/stdlib@" + number}},
	}
}

// escaped spells a path or version as the module proxy does: ! for a capital letter.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		if 'A' <= r && r <= 'Z' {
			out.WriteByte('!')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
