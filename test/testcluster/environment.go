package testcluster

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// Env returns an environment for kubectl or a kubectl gc under test in which only this
// control plane is reachable. It has its own home directory, so that no preferences or caches
// of the user, or of an earlier control plane on the same port, are used.
func (p *ControlPlane) Env() []string {
	env := []string{"KUBECONFIG=" + p.Kubeconfig, "HOME=" + p.Dir}
	for _, entry := range withoutKube(os.Environ()) {
		if !strings.HasPrefix(entry, "HOME=") && !strings.HasPrefix(entry, "XDG_") {
			env = append(env, entry)
		}
	}
	return env
}

// Kubectl returns a kubectl command with that environment.
func (p *ControlPlane) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.KubectlPath, args...)
	cmd.Env = p.Env()
	return cmd
}

// Context returns the name of a user's context in the kubeconfig: admin, or one of
// alice, bob, carol and dave.
func (p *ControlPlane) Context(user string) string { return user + "@" + clusterName }

// withoutKube removes the variables that configure another cluster: KUBECONFIG, and those of
// a Pod. The variables of this repository stay.
func withoutKube(env []string) []string {
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "KUBE") || strings.HasPrefix(entry, "KUBECTL_GC_") {
			kept = append(kept, entry)
		}
	}
	return kept
}
