package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// dirVariable names the environment variable with the folder of the binaries.
const dirVariable = "KUBECTL_GC_CONTROLPLANE_DIR"

// keyFile is in every folder of binaries that a build has completed.
const keyFile = "key"

// binariesBase returns the folder that the environment variable names, and whether it does.
// Otherwise it returns the folder in which each set of binaries has a folder of its own.
func binariesBase() (dir string, chosen bool, err error) {
	if dir := os.Getenv(dirVariable); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", false, fmt.Errorf("resolve %s=%s: %w", dirVariable, dir, err)
		}
		return abs, true, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false, fmt.Errorf("find folder for binaries: %w", err)
	}
	return filepath.Join(cache, "kubectl-gc", "controlplane"), false, nil
}

// binaries are the folders of the programs of a control plane.
type binaries struct {
	servers string // kube-apiserver and kube-controller-manager
	tools   string // etcd and kubectl, the same for every version of Kubernetes
}

// built reports whether a build of the recipe has completed dir.
func built(dir string, r recipe) bool {
	have, err := os.ReadFile(filepath.Join(dir, keyFile))
	return err == nil && string(have) == r.key && complete(dir, r.module.programs())
}

// builtElsewhere reports whether dir holds binaries that another program put there.
func builtElsewhere(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, keyFile))
	return errors.Is(err, os.ErrNotExist) && complete(dir, allPrograms())
}

// complete reports whether dir holds all of the programs.
func complete(dir string, programs []program) bool {
	for _, p := range programs {
		info, err := os.Stat(filepath.Join(dir, p.name))
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}
