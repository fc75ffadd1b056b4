package main

import (
	"slices"
	"strings"
	"testing"
)

func TestKubernetesVersion(t *testing.T) {
	for name, c := range map[string]struct {
		mod, want string
	}{
		"in a block":                          {"module m\n\nrequire (\n\tgo.etcd.io/etcd v3.6.8\n\tk8s.io/kubernetes v1.40.1 // indirect\n)\n", "v1.40.1"},
		"in a line":                           {"require k8s.io/kubernetes v1.40.1\n", "v1.40.1"},
		"a tool line is not a requirement":    {"tool k8s.io/kubernetes/cmd/kubectl\n", ""},
		"a replace line is not a requirement": {"replace (\n\tk8s.io/kubernetes => ../kubernetes\n)\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kubernetesVersion(c.mod); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The staging modules v0.X.Y belong to v1.X.Y. Only this test checks that they do.
func TestModuleHasOneKubernetesVersion(t *testing.T) {
	for _, file := range moduleFiles() {
		m := readModule(file)
		staging := "v0." + strings.TrimPrefix(m.version, "v1.")
		replaced := 0
		for line := range strings.Lines(m.mod) {
			from, to, ok := strings.Cut(strings.TrimSpace(line), " => ")
			if !ok {
				continue
			}
			replaced++
			if want := from + " " + staging; to != want {
				t.Errorf("%s: %s is replaced by %s, want %s", file, from, to, want)
			}
		}
		if replaced == 0 {
			t.Errorf("%s: no staging module is replaced", file)
		}
	}
}

func TestProgramsAreToolsOfTheModule(t *testing.T) {
	for _, file := range moduleFiles() {
		want := allPrograms()[1:3] // the servers
		if file == "go.mod" {
			want = allPrograms()
		}
		if got := readModule(file).programs(); !slices.Equal(got, want) {
			t.Errorf("the tools of %s are %v, want %v", file, got, want)
		}
	}
}
