package testcluster

import (
	"slices"
	"testing"
)

func TestEnvHasNoOtherCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/home/user/.kube/config")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("HOME", "/home/user")
	t.Setenv("XDG_CACHE_HOME", "/home/user/.cache")
	t.Setenv("KUBECTL_GC_E2E", "1")
	env := (&ControlPlane{Kubeconfig: "/run/kubeconfig", Dir: "/run"}).Env()
	for _, want := range []string{"KUBECONFIG=/run/kubeconfig", "HOME=/run", "KUBECTL_GC_E2E=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, bad := range []string{
		"KUBECONFIG=/home/user/.kube/config", "KUBERNETES_SERVICE_HOST=10.0.0.1",
		"HOME=/home/user", "XDG_CACHE_HOME=/home/user/.cache",
	} {
		if slices.Contains(env, bad) {
			t.Errorf("%s is there", bad)
		}
	}
}
