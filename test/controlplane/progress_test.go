package main

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, begun: time.Now(), total: 7}
	p.begin("etcd")
	// A pipe delivers lines in pieces.
	for _, piece := range []string{
		"go: downloading k8s.io/api v0.36.3\nunsa", "fe\nnet/http\nk8s.io/api/core/v1\n",
		"# k8s.io/api/core/v1\n../types.go:1:1: expected 'package'",
	} {
		if _, err := p.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if p.done != 3 || p.modules != 1 {
		t.Errorf("counted %d packages and %d modules, want 3 and 1", p.done, p.modules)
	}
	want := "# k8s.io/api/core/v1\n../types.go:1:1: expected 'package'"
	if got := p.complaints(); got != want {
		t.Errorf("complaints are %q, want %q", got, want)
	}
	p.begin("kubectl")
	if !strings.Contains(out.String(), "kubectl  3/7 packages\n") {
		t.Errorf("told %q", out.String())
	}
}
