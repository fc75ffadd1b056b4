package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixtures"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// keptDir, in the repository, has the kubeconfig, the record and the programs of a kept control
// plane. It exists as long as one may run.
const keptDir = ".demo"

// repository returns the root folder of the main module.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubectl-gc/kubectl-gc").Output()
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// buildPlugin builds the plugin into the folder of the programs.
func (s *stage) buildPlugin(ctx context.Context, root string) error {
	build := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", filepath.Join(s.bin, "kubectl-gc"), "./cmd/kubectl-gc")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build kubectl gc: %w\n%s", err, out)
	}
	return nil
}

// prepare builds the plugin and the control plane, and returns the folder of the latter's programs.
// If these have yet to be built, it first shows what the plugin makes of the saved cluster.
func (s *stage) prepare(ctx context.Context, root string) (programs string, err error) {
	if err := s.timed("build kubectl gc", func() error { return s.buildPlugin(ctx, root) }); err != nil {
		return "", err
	}
	var bin bytes.Buffer
	if controlplane(ctx, root, &bin, io.Discard, "build", "--only-if-built") == nil {
		return strings.TrimSpace(bin.String()), nil
	}
	fmt.Fprint(s.out, `
A real control plane has to be built for this, once, which takes about five minutes. Until then, here is the same cluster as it
was saved in docs/demo/cluster.json.
`)
	if err := s.performSaved(ctx, root); err != nil {
		return "", err
	}
	fmt.Fprintln(s.out, "\n── Now the real thing: building etcd, kube-apiserver, kube-controller-manager and kubectl")
	begun := time.Now()
	bin.Reset()
	if err := controlplane(ctx, root, &bin, s.err, "build"); err != nil {
		return "", err
	}
	fmt.Fprintf(s.out, "%-60s", "built them")
	s.took(begun)
	return strings.TrimSpace(bin.String()), nil
}

// startTemporary starts a control plane that ends with this process.
func (s *stage) startTemporary(ctx context.Context, root string) (err error) {
	if s.bin, err = os.MkdirTemp("", "kubectl-gc-demo-"); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	s.cleaners = append(s.cleaners, func() error { return os.RemoveAll(s.bin) })
	if _, err := s.prepare(ctx, root); err != nil {
		return err
	}
	var p *testcluster.ControlPlane
	err = s.timed("start a control plane, its garbage collector off", func() (err error) {
		var said bytes.Buffer // shown only after an error
		if p, err = testcluster.Start(ctx, testcluster.Options{Collector: testcluster.Off, Stderr: &said}); err != nil {
			return fmt.Errorf("%w\n%s", err, &said)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.kubeconfig = p.Kubeconfig
	s.cleaners = append(s.cleaners, func() error {
		if err := p.Stop(); err != nil && ctx.Err() == nil { // a Ctrl-C has stopped it as well
			return err
		}
		return nil
	})
	return s.linkKubectl(p.KubectlPath)
}

// startKept starts a control plane that outlives this process, or finds the running one. fresh is
// false for the latter, which still has its objects.
func (s *stage) startKept(ctx context.Context, root string) (fresh bool, err error) {
	state := filepath.Join(root, keptDir)
	s.kubeconfig = filepath.Join(state, "kubeconfig")
	s.bin = filepath.Join(state, "bin")
	runs := s.answers(ctx)
	if !runs {
		s.cleaners = append(s.cleaners, func() error { return stopKept(context.WithoutCancel(ctx), root) })
	}
	if err := os.MkdirAll(s.bin, 0o700); err != nil {
		return false, fmt.Errorf("make folder for programs: %w", err)
	}
	programs, err := s.prepare(ctx, root)
	if err != nil {
		return false, err
	}
	if runs {
		return false, s.linkKubectl(filepath.Join(programs, "kubectl"))
	}
	err = s.timed("start a control plane, its garbage collector off", func() error {
		var said bytes.Buffer // shown only after an error
		if err := controlplane(ctx, root, io.Discard, &said, "up", "--collector=off", "--state", state); err != nil {
			return fmt.Errorf("%w\n%s", err, &said)
		}
		return testcluster.RequireTestCluster(s.kubeconfig)
	})
	if err != nil {
		return false, err
	}
	return true, s.linkKubectl(filepath.Join(programs, "kubectl"))
}

// answers reports whether the control plane of the kubeconfig is a test cluster and runs.
func (s *stage) answers(ctx context.Context) bool {
	if testcluster.RequireTestCluster(s.kubeconfig) != nil {
		return false
	}
	l, err := fixtures.NewLoader(s.kubeconfig)
	return err == nil && l.Ready(ctx)
}

// linkKubectl puts a kubectl beside the plugin.
func (s *stage) linkKubectl(kubectl string) error {
	link := filepath.Join(s.bin, "kubectl")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("put kubectl beside the plugin: %w", err)
	}
	if err := os.Symlink(kubectl, link); err != nil {
		return fmt.Errorf("put kubectl beside the plugin: %w", err)
	}
	return nil
}

// stop stops the control plane that -keep has left running.
func stop(ctx context.Context, _ options, stdout, _ io.Writer) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, keptDir)); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(stdout, "No demo is running.")
		return nil
	}
	if err := stopKept(ctx, root); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "The demo's control plane is stopped.")
	return nil
}

// stopKept stops the kept control plane and removes its folder.
func stopKept(ctx context.Context, root string) error {
	state := filepath.Join(root, keptDir)
	var said bytes.Buffer
	if err := controlplane(ctx, root, io.Discard, &said, "down", "--state", state); err != nil {
		return fmt.Errorf("%w\n%s", err, &said)
	}
	if err := os.RemoveAll(state); err != nil {
		return fmt.Errorf("remove folder of the demo: %w", err)
	}
	return nil
}

// controlplane runs the command in test/controlplane.
func controlplane(ctx context.Context, root string, stdout, stderr io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "-C", filepath.Join(root, "test", "controlplane"), "."}, args...)...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("controlplane %s: %w", args[0], err)
	}
	return nil
}
