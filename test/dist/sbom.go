package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// billEnding is put behind the name of an archive.
const billEnding = ".spdx.json"

// writeBill writes the bill of materials of an archive. It is read out of the program in
// the archive: the linker has written there which modules it is made of.
func writeBill(archive, out string) error {
	d, err := billOf(archive)
	if err != nil {
		return fmt.Errorf("list what %s is made of: %w", archive, err)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(data, '\n'), 0o644)
}

func billOf(archive string) (*document, error) {
	data, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(archive)
	file, version, found := cutName(name)
	if !found {
		return nil, fmt.Errorf("%q does not end with a version, a platform and .tar.gz or .zip", name)
	}
	files, err := readArchive(archive)
	if err != nil {
		return nil, err
	}
	program := files[file]
	if program == nil {
		program = files[file+".exe"]
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, fmt.Errorf("read how %s was built: %w", file, err)
	}
	at, err := timeOf(name, data)
	if err != nil {
		return nil, err
	}
	d := newDocument(name, version, fmt.Sprintf("%x", sha256.Sum256(data)), at)
	d.contain(compiler(info.GoVersion))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.contain(component(m))
	}
	return d, nil
}

// archived is FILE_VERSION_OS_ARCH. The name of the file may hold a _, the rest holds none.
var archived = regexp.MustCompile(`^(.+)_([^_]+)_[^_]+_[^_]+\.(?:tar\.gz|zip)$`)

func cutName(archive string) (file, version string, found bool) {
	m := archived.FindStringSubmatch(archive)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// timeOf is that of an archive's first file: all have the same.
func timeOf(name string, data []byte) (time.Time, error) {
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(archive.File) == 0 {
			return time.Time{}, fmt.Errorf("read its first file: %w", err)
		}
		return archive.File[0].Modified, nil
	}
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return time.Time{}, err
	}
	defer compressed.Close()
	header, err := tar.NewReader(io.Reader(compressed)).Next()
	if err != nil {
		return time.Time{}, fmt.Errorf("read its first file: %w", err)
	}
	return header.ModTime, nil
}

// component is a module that the program contains.
func component(m *debug.Module) pkg {
	return pkg{
		Name: m.Path, VersionInfo: m.Version,
		DownloadLocation: "https://proxy.golang.org/" + escaped(m.Path) + "/@v/" + escaped(m.Version) + ".zip",
		SourceInfo:       "go.sum has " + m.Sum,
		ExternalRefs:     []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}},
	}
}

// compiler is the Go that the program was built with, and has its standard library from.
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
