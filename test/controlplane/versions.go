package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"
)

// pinned holds go.mod and go.sum for the newest version, and versions/MINOR.mod and
// versions/MINOR.sum for each older one. (A folder with a go.mod would be another module, and
// could not be embedded.)
//
//go:embed go.mod go.sum versions
var pinned embed.FS

// newestModule returns the module of the newest version.
func newestModule() module { return modules()[0] }

// findModule returns the module of a minor version, such as 1.33; empty means the newest.
func findModule(minor string) (module, error) {
	for _, m := range modules() {
		if minor == "" || m.minor() == minor {
			return m, nil
		}
	}
	return module{}, fmt.Errorf("version is %q, want one of %s", minor, offered())
}

func versionsCommand(_ context.Context, args []string, s streams) error {
	if err := parse(flag.NewFlagSet("versions", flag.ContinueOnError), args, s); err != nil {
		return err
	}
	for _, m := range modules() {
		fmt.Fprintln(s.out, m.version)
	}
	return nil
}

// modules returns the modules of all versions, that of the newest first.
func modules() []module {
	var all []module
	for _, file := range moduleFiles() {
		all = append(all, readModule(file))
	}
	return all
}

// offered returns the minor versions, separated by commas.
func offered() string {
	var minors []string
	for _, m := range modules() {
		minors = append(minors, m.minor())
	}
	return strings.Join(minors, ", ")
}

// moduleFiles returns the names of the go.mod files, that of the newest version first.
func moduleFiles() []string {
	entries, err := pinned.ReadDir("versions")
	if err != nil {
		panic(err) // it is embedded
	}
	var older []string
	for _, e := range entries {
		if path.Ext(e.Name()) == ".mod" {
			older = append(older, path.Join("versions", e.Name()))
		}
	}
	slices.Reverse(older)
	return append([]string{"go.mod"}, older...)
}

func readModule(file string) module {
	mod, sum := readPinned(file), readPinned(strings.TrimSuffix(file, ".mod")+".sum")
	return module{mod: mod, sum: sum, version: kubernetesVersion(mod)}
}

func readPinned(file string) string {
	content, err := pinned.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(content)
}

// minor returns the minor version, such as 1.33 of v1.33.13.
func (m module) minor() string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(m.version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor
}
