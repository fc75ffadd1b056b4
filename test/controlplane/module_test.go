package main

import (
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
			got, err := kubernetesVersion(c.mod)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// The staging modules v0.X.Y belong to v1.X.Y. Only this test checks that they do.
func TestModuleHasOneKubernetesVersion(t *testing.T) {
	version, err := kubernetesVersion(goMod)
	if err != nil {
		t.Fatal(err)
	}
	staging := "v0." + strings.TrimPrefix(version, "v1.")
	replaced := 0
	for line := range strings.Lines(goMod) {
		from, to, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		replaced++
		if want := from + " " + staging; to != want {
			t.Errorf("%s is replaced by %s, want %s", from, to, want)
		}
	}
	if replaced == 0 {
		t.Error("no staging module is replaced")
	}
}

func TestProgramsAreToolsOfTheModule(t *testing.T) {
	for _, p := range programs() {
		if !strings.Contains(goMod, "\t"+p.path+"\n") {
			t.Errorf("%s is no tool of go.mod", p.path)
		}
	}
}
