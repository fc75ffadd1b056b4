package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is a Go module that requires one version of Kubernetes.
type module struct {
	mod, sum string // contents of go.mod and go.sum
	version  string // of Kubernetes, such as v1.33.13
}

// program is one binary of a control plane.
type program struct {
	name string // of the file
	path string // of the package, a tool of a go.mod
}

// allPrograms returns the programs in the order in which they are built: the smallest first, so
// that a broken toolchain is noticed early.
func allPrograms() []program {
	return []program{
		{"etcd", "go.etcd.io/etcd/server/v3"},
		{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
		{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	}
}

// programs returns the programs that are tools of the module. Those of an older version are only
// kube-apiserver and kube-controller-manager.
func (m module) programs() []program {
	var tools []program
	for _, p := range allPrograms() {
		if strings.Contains(m.mod, "\t"+p.path+"\n") {
			tools = append(tools, p)
		}
	}
	return tools
}

// kubernetesVersion returns the version of k8s.io/kubernetes that a go.mod requires, or "".
func kubernetesVersion(mod string) string {
	for line := range strings.Lines(mod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == "k8s.io/kubernetes" && strings.HasPrefix(fields[1], "v") {
			return fields[1]
		}
	}
	return ""
}

// write creates a module below base that has requirements but no packages of its own, so that the
// required programs can be built. It returns its folder, whose name changes with the content.
func (m module) write(base string) (string, error) {
	dir := filepath.Join(base, "module-"+hash(m.mod, m.sum))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("lay out module: %w", err)
	}
	for name, content := range map[string]string{"go.mod": m.mod, "go.sum": m.sum} {
		path := filepath.Join(dir, name)
		if have, err := os.ReadFile(path); err == nil && string(have) == content {
			continue
		}
		if err := writeWhole(path, []byte(content), 0o644); err != nil {
			return "", fmt.Errorf("lay out module: %w", err)
		}
	}
	return dir, nil
}

// hash returns a name for some contents. Equal parts have equal names.
func hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part) // the length separates the parts
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
