package testcluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

const orphan = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"orphan","ownerReferences":[
	{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":"00000000-0000-0000-0000-000000000000"}]}}`

// kubectl runs kubectl to its end.
func kubectl(t *testing.T, p *ControlPlane, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := p.Kubectl(t.Context(), args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCollectorRunsOnlyWhileOn(t *testing.T) {
	p := sharedControlPlane(t)
	if out, err := kubectl(t, p, orphan, "create", "-f", "-"); err != nil {
		t.Fatal(err, out)
	}
	before := p.PIDs["kube-controller-manager"]
	if err := p.SetCollector(t.Context(), On); err != nil {
		t.Fatal(err)
	}
	if p.PIDs["kube-controller-manager"] == before || p.Manager == "" {
		t.Errorf("kube-controller-manager is process %d as before, at %q", before, p.Manager)
	}
	if out, err := kubectl(t, p, "", "wait", "--for=delete", "configmap/orphan", "--timeout=20s"); err != nil {
		t.Error(err, out)
	}
	before = p.PIDs["kube-apiserver"]
	if err := p.RestartAPIServer(t.Context()); err != nil || p.PIDs["kube-apiserver"] == before {
		t.Errorf("the API server is process %d as before: %v", before, err)
	}
	if err := p.KillManager(t.Context()); err != nil || p.PIDs["kube-controller-manager"] != 0 {
		t.Errorf("killed: processes %v, %v", p.PIDs, err)
	}
	if err := p.SetCollector(t.Context(), Off); err != nil {
		t.Fatal(err)
	}
	if err := p.SetCollector(t.Context(), Absent); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.PIDs["kube-controller-manager"]; ok || p.Manager != "" {
		t.Errorf("absent: processes %v, manager %q", p.PIDs, p.Manager)
	}
	if err := p.SetCollector(t.Context(), "sometimes"); err == nil || !strings.Contains(err.Error(), "want on, off or absent") {
		t.Errorf("a wrong collector gives %v", err)
	}
}

func TestUsers(t *testing.T) {
	p := sharedControlPlane(t)
	if out, err := kubectl(t, p, "", "get", "pods"); err != nil {
		t.Error(err, out)
	}
	for _, user := range []string{"alice", "bob", "carol", "dave"} {
		out, err := kubectl(t, p, "", "--context", p.Context(user), "get", "pods")
		if err == nil || !strings.Contains(out, `User "`+user+`" cannot list resource "pods"`) {
			t.Errorf("%s gets pods: %v %s", user, err, out)
		}
	}
}

func TestFailedStartReportsReason(t *testing.T) {
	sharedControlPlane(t)
	var stderr strings.Builder
	_, err := Start(t.Context(), Options{OnlyIfBuilt: true, APIServerFlags: []string{"no-such-flag=1"}, Stderr: &stderr})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	sharedControlPlane(t)
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var stderr strings.Builder
	if _, err := Start(ctx, Options{OnlyIfBuilt: true, Stderr: &stderr}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}
