package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixtures"
)

// stage has everything that the demo uses.
type stage struct {
	out, err   io.Writer
	bin        string // the folder with kubectl and the plugin
	kubeconfig string
	cleaners   []func() error // what clear has to do, in reverse order
}

// clear removes everything that the demo has created.
func (s *stage) clear() error {
	var errs []error
	for _, clean := range slices.Backward(s.cleaners) {
		errs = append(errs, clean())
	}
	s.cleaners = nil
	return errors.Join(errs...)
}

// timed prints on one line what is being done, and then how long it took.
func (s *stage) timed(task string, do func() error) error {
	begun := time.Now()
	fmt.Fprintf(s.out, "%-60s", task+" …")
	if err := do(); err != nil {
		fmt.Fprintln(s.out)
		return err
	}
	s.took(begun)
	return nil
}

// took completes a line with the elapsed time.
func (s *stage) took(begun time.Time) {
	fmt.Fprintf(s.out, "%6.1f s\n", time.Since(begun).Seconds())
}

// populate loads docs/demo and waits until the controllers have processed it.
func (s *stage) populate(ctx context.Context, root string) error {
	manifests, err := fixtures.Read(os.DirFS(filepath.Join(root, "docs", "demo")))
	if err != nil {
		return err
	}
	l, err := fixtures.NewLoader(s.kubeconfig)
	if err != nil {
		return err
	}
	task := fmt.Sprintf("load the %d objects of docs/demo", len(manifests))
	if err := s.timed(task, func() error { _, err := l.Load(ctx, manifests); return err }); err != nil {
		return err
	}
	return s.timed("wait for the Deployment, StatefulSet and Job controllers", func() error { return l.Settle(ctx, manifests) })
}

// acts are what the demo shows.
var acts = []struct {
	heading string
	args    []string
}{
	{"Is anything wrong in this cluster?", nil},
	{"Every finding, and what the garbage collector does about it", []string{"audit"}},
	{"The StatefulSet among them: who owns it, and what is deleted with it?", []string{"tree", "statefulset/redis-exporter", "-n", "monitoring"}},
	{"Everything in a namespace that owns or is owned", []string{"tree", "-n", "shop"}},
	{"What would a pass of the garbage collector do?", []string{"collect", "--dry-run"}},
}

// performSaved runs the plugin on the saved cluster, for which it needs no kubectl.
func (s *stage) performSaved(ctx context.Context, root string) error {
	const file = "docs/demo/cluster.json"
	for _, act := range acts {
		fmt.Fprintf(s.out, "\n── %s\n", act.heading)
		args := append(slices.Clone(act.args), "--from", file)
		fmt.Fprintf(s.out, "$ kubectl gc %s\n", strings.Join(args, " "))
		cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "kubectl-gc"), args...)
		cmd.Dir = root
		if err := s.run(cmd); err != nil {
			return fmt.Errorf("kubectl gc %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

// perform runs the plugin as a user would.
func (s *stage) perform(ctx context.Context, save string) error {
	for _, act := range acts {
		fmt.Fprintf(s.out, "\n── %s\n", act.heading)
		if err := s.kubectl(ctx, append([]string{"gc"}, act.args...)...); err != nil {
			return err
		}
	}
	if save == "" {
		return nil
	}
	// The snapshot should show stuck deletions, not deletions that have just begun.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Second):
	}
	fmt.Fprintf(s.out, "\n── The same cluster as a file\n")
	return s.kubectl(ctx, "gc", "snapshot", "-o", save)
}

// kubectl prints a command line and runs it.
func (s *stage) kubectl(ctx context.Context, args ...string) error {
	fmt.Fprintf(s.out, "$ kubectl %s\n", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "kubectl"), args...)
	cmd.Env = s.env()
	if err := s.run(cmd); err != nil {
		return fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// run runs a command and prints how long it took. Exit code 1 is not an error: it means that there are
// findings.
func (s *stage) run(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = s.out, s.out // both in one stream, as on a terminal
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != exitFailed {
		return err
	} else if code == exitFailed {
		fmt.Fprintf(s.out, "(%.2f s, exit code 1: a pipeline would stop here)\n", took.Seconds())
		return nil
	}
	fmt.Fprintf(s.out, "(%.2f s)\n", took.Seconds())
	return nil
}

// env returns an environment in which only the demo's control plane is reachable.
func (s *stage) env() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "KUBE") && !strings.HasPrefix(entry, "PATH=") {
			env = append(env, entry)
		}
	}
	return append(env, "KUBERC=off", "KUBECONFIG="+s.kubeconfig, "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// suggest prints what to try next.
func (s *stage) suggest(keep bool) {
	if !keep {
		fmt.Fprint(s.out, `
── Now you
Play with this cluster:             make demo-up
Ask its snapshot, with no cluster:  make build && bin/kubectl-gc audit --from docs/demo/cluster.json
What was loaded, story by story:    docs/demo/README.md
`)
		return
	}
	fmt.Fprintf(s.out, `
── Now you. The control plane stays; in your shell:
export KUBECONFIG='%s' PATH='%s':"$PATH"
kubectl gc audit --cross-namespace                      only what crosses a namespace boundary
kubectl gc audit --stuck-after=1s                       stuck deletions, young as they are here
kubectl gc audit -o json                                for a program; also yaml, sarif, name
kubectl gc tree rediscluster/redis-0826 -n kube-system  the owner that redis-exporter means, and who may have it
kubectl gc tree -A                                      every tree
kubectl gc collect --dry-run=server                     would the API server accept each step?
kubectl gc collect                                      run it: shows the plan, asks, backs up, runs, scans again
What was loaded, story by story: docs/demo/README.md
Stop it: make demo-down
`, s.kubeconfig, s.bin)
}
