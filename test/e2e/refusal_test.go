package e2e

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestInterruptEndsAStalledScan(t *testing.T) {
	s := newScene(t)
	for name, args := range map[string][]string{"audit": {"audit"}, "snapshot": {"snapshot", "-o", "-"}, "collect": {"collect", "--yes"}} {
		t.Run(name, func(t *testing.T) {
			f := s.throughProxy(func(http.Handler) []fault { return []fault{{listOf("secrets"), stall}} })
			p := f.start(args...)
			s.await("the scan to stall", func(context.Context) (bool, error) { return len(f.matching(listOf("secrets"))) > 0, nil })
			begun := time.Now()
			s.must(p.cmd.Process.Signal(os.Interrupt))
			r := p.wait().exits(t, 130)
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("it takes %s", took)
			}
			if r.Stdout != "" || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, "interrupted") {
				t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
			}
		})
	}
}

func TestRequestsAreLoggedOnlyOnDemand(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("log")
	s.create(configMap(ns, "there"))
	f := s.throughProxy(func(through http.Handler) []fault { return []fault{{listOf("secrets"), truncateBody(through)}} })
	for name, c := range map[string]struct {
		args   []string
		logged bool
	}{
		"not by default, not even failed requests": {nil, false},
		"with -v=6": {[]string{"-v=6"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.gc(append([]string{"audit", "-n", ns, "-o", "name"}, c.args...)...).exits(t, 0).warns(t, "secrets")
			if logged := strings.Contains(r.Stderr, ".go:"); logged != c.logged {
				t.Errorf("logged: %t, want %t\n%s", logged, c.logged, r.Stderr)
			}
		})
	}
}
