package testcluster

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// Env is our environment for a process that is to talk to this Plane and to nothing
// else: kubectl, or a kubectl gc under test. It has a home of its own, so that neither
// preferences nor caches of the user, or of a former Plane on the same port, get in.
func (p *Plane) Env() []string {
	env := []string{"KUBECONFIG=" + p.Kubeconfig, "HOME=" + p.Dir}
	for _, entry := range withoutKube(os.Environ()) {
		if !strings.HasPrefix(entry, "HOME=") && !strings.HasPrefix(entry, "XDG_") {
			env = append(env, entry)
		}
	}
	return env
}

// Kubectl is a kubectl command with that environment.
func (p *Plane) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.KubectlPath, args...)
	cmd.Env = p.Env()
	return cmd
}

// Context returns the name of a user's context in the kubeconfig: admin, or one of
// alice, bob, carol and dave.
func (p *Plane) Context(user string) string { return user + "@" + clusterName }

// withoutKube drops what could lead to a cluster that isn't ours: KUBECONFIG, and what
// a pod is told of the cluster it runs in. The variables of this repository stay.
func withoutKube(env []string) []string {
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "KUBE") || strings.HasPrefix(entry, "KUBECTL_GC_") {
			kept = append(kept, entry)
		}
	}
	return kept
}
