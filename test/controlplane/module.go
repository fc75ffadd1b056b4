package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const versionUsage = "the minor version of Kubernetes, such as 1.33: the newest, which is the default, or one in the folder versions"

// module is a go.mod in this folder that requires one version of Kubernetes, with its go.sum.
type module struct {
	file     string
	mod, sum string // contents
	version  string // of Kubernetes, such as v1.33.13
}

// findModule returns the module of a minor version; empty means the newest.
func findModule(minor string) (module, error) {
	newest, err := readModule("go.mod")
	if err != nil || minor == "" || strings.HasPrefix(newest.version, "v"+minor+".") {
		return newest, err
	}
	older, err := filepath.Glob("versions/*.mod")
	if err != nil {
		return module{}, err
	}
	for _, file := range older {
		if filepath.Base(file) == minor+".mod" {
			return readModule(file)
		}
	}
	return module{}, fmt.Errorf("find Kubernetes %s: it is neither %s nor one of %s", minor, newest.version, strings.Join(older, ", "))
}

func readModule(file string) (module, error) {
	mod, err := os.ReadFile(file)
	if err != nil {
		return module{}, fmt.Errorf("read the version of Kubernetes, in the folder test/controlplane: %w", err)
	}
	sum, err := os.ReadFile(strings.TrimSuffix(file, ".mod") + ".sum")
	if err != nil {
		return module{}, fmt.Errorf("read the version of Kubernetes: %w", err)
	}
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "k8s.io/kubernetes" && strings.HasPrefix(fields[1], "v") {
			return module{file: file, mod: string(mod), sum: string(sum), version: fields[1]}, nil
		}
	}
	return module{}, fmt.Errorf("read %s: it does not require k8s.io/kubernetes", file)
}
