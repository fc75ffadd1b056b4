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

// keptDir, in the repository, is where a control plane that is kept has its kubeconfig,
// its record and its programs. It is there as long as one may run.
const keptDir = ".demo"

// repository returns the folder of our main module.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubectl-gc/kubectl-gc").Output()
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// equip builds the plugin into the folder of the programs.
func (s *stage) equip(ctx context.Context, root string) error {
	build := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", filepath.Join(s.bin, "kubectl-gc"), "./cmd/kubectl-gc")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build kubectl gc: %w\n%s", err, out)
	}
	return nil
}

// borrow starts a control plane that dies with us.
func (s *stage) borrow(ctx context.Context, root string) (err error) {
	if s.bin, err = os.MkdirTemp("", "kubectl-gc-demo-"); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	s.cleaners = append(s.cleaners, func() error { return os.RemoveAll(s.bin) })
	if err := s.timed("build kubectl gc", func() error { return s.equip(ctx, root) }); err != nil {
		return err
	}
	var p *testcluster.ControlPlane
	start := func(o testcluster.Options, progress io.Writer) (err error) {
		o.Collector, o.Stderr = testcluster.Off, progress
		p, err = testcluster.Start(ctx, o)
		return err
	}
	var said bytes.Buffer // that the binaries are not built, for one, which is no news yet
	err = s.timed("start a control plane, its garbage collector off", func() error {
		return start(testcluster.Options{OnlyIfBuilt: true}, &said)
	})
	switch begun := time.Now(); {
	case errors.Is(err, testcluster.ErrNotBuilt):
		if err := start(testcluster.Options{}, s.err); err != nil { // which shows its progress
			return err
		}
		fmt.Fprintf(s.out, "%-60s", "built and started it")
		s.took(begun)
	case err != nil:
		return fmt.Errorf("%w\n%s", err, &said)
	}
	s.kubeconfig = p.Kubeconfig
	s.cleaners = append(s.cleaners, func() error {
		if err := p.Stop(); err != nil && ctx.Err() == nil { // a Ctrl-C reaches it too
			return err
		}
		return nil
	})
	return s.offer(p.KubectlPath)
}

// raise starts a control plane that outlives us, or finds the one that runs already: then
// fresh is false, and it holds what it held.
func (s *stage) raise(ctx context.Context, root string) (fresh bool, err error) {
	state := filepath.Join(root, keptDir)
	s.kubeconfig = filepath.Join(state, "kubeconfig")
	s.bin = filepath.Join(state, "bin")
	runs := s.answers(ctx)
	if !runs {
		s.cleaners = append(s.cleaners, func() error { return lower(context.WithoutCancel(ctx), root) })
	}
	if err := os.MkdirAll(s.bin, 0o700); err != nil {
		return false, fmt.Errorf("make folder for programs: %w", err)
	}
	if err := s.timed("build kubectl gc", func() error { return s.equip(ctx, root) }); err != nil {
		return false, err
	}
	var bin bytes.Buffer
	if err := controlplane(ctx, root, &bin, s.err, "build"); err != nil {
		return false, err
	}
	task := "start a control plane, its garbage collector off"
	if runs {
		task = "find the control plane of the last time"
	}
	err = s.timed(task, func() error {
		var said bytes.Buffer // of no use to who sees the demo, unless it goes wrong
		if err := controlplane(ctx, root, io.Discard, &said, "up", "--collector=off", "--state", state); err != nil {
			return fmt.Errorf("%w\n%s", err, &said)
		}
		return testcluster.RequireTestCluster(s.kubeconfig)
	})
	if err != nil {
		return false, err
	}
	return !runs, s.offer(filepath.Join(strings.TrimSpace(bin.String()), "kubectl"))
}

// answers tells if the control plane of the kubeconfig is ours and runs.
func (s *stage) answers(ctx context.Context) bool {
	if testcluster.RequireTestCluster(s.kubeconfig) != nil {
		return false
	}
	l, err := fixtures.NewLoader(s.kubeconfig)
	return err == nil && l.Ready(ctx)
}

// offer puts a kubectl beside the plugin.
func (s *stage) offer(kubectl string) error {
	link := filepath.Join(s.bin, "kubectl")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("put kubectl beside the plugin: %w", err)
	}
	if err := os.Symlink(kubectl, link); err != nil {
		return fmt.Errorf("put kubectl beside the plugin: %w", err)
	}
	return nil
}

// stop stops what -keep left running.
func stop(ctx context.Context, _ options, stdout, _ io.Writer) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, keptDir)); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(stdout, "No demo is running.")
		return nil
	}
	if err := lower(ctx, root); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "The demo's control plane is stopped.")
	return nil
}

// lower stops the kept control plane and forgets it.
func lower(ctx context.Context, root string) error {
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
