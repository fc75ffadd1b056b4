package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// harness has what the measurements share.
type harness struct {
	options
	progress   io.Writer
	dir        string // for programs and their files
	plane      *testcluster.ControlPlane
	self       string   // this program
	plugin     string   // kubectl-gc, as released
	launch     string   // the program that runs others
	kubernetes string   // the version
	all        []string // paths of all lists
	first      []string // paths of the lists of the first namespace
	order      *rand.Rand
	busy       []float64 // part of the machine that other processes used at each start
}

// withHarness builds the programs, starts a control plane, calls work and cleans up.
func withHarness(ctx context.Context, o options, progress io.Writer, p testcluster.Options, work func(*harness) error) (err error) {
	w := &harness{options: o, progress: progress, order: rand.New(rand.NewPCG(1, 2))}
	if w.dir, err = os.MkdirTemp("", "kubectl-gc-bench-"); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	if err := w.build(ctx); err != nil {
		return err
	}
	fmt.Fprintln(progress, "starting a control plane")
	p.Stderr = progress
	if w.plane, err = testcluster.Start(ctx, p); err != nil {
		return err
	}
	defer func() {
		if stopped := w.plane.Stop(); stopped != nil && ctx.Err() == nil {
			err = errors.Join(err, stopped)
		}
	}()
	return work(w)
}

// publish prints a report and writes its page if requested.
func (w *harness) publish(r interface {
	print(out io.Writer) error
	write(path string) error
}, stdout io.Writer,
) error {
	if err := r.print(stdout); err != nil || w.write == "" {
		return err
	}
	if err := r.write(w.write); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nwritten to %s\n", w.write)
	return nil
}

func (w *harness) build(ctx context.Context) (err error) {
	if w.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	w.plugin, w.launch = filepath.Join(w.dir, "kubectl-gc"), filepath.Join(w.dir, "launch")
	fmt.Fprintln(w.progress, "building kubectl-gc")
	for path, source := range map[string]string{w.plugin: "cmd/kubectl-gc", w.launch: "test/bench/launch"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/kubectl-gc/kubectl-gc/"+source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	return nil
}

// discover reads the server's version and the listable types.
func (w *harness) discover(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", w.plane.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	world, err := discovery.Discover(ctx, c)
	if err != nil {
		return err
	}
	w.kubernetes = world.Server
	for _, t := range world.Types {
		if !t.Monitored() {
			continue
		}
		root := "/apis/" + t.APIVersion()
		if t.Group == "" {
			root = "/api/" + t.Version
		}
		w.all = append(w.all, root+"/"+t.Resource)
		if t.Namespaced {
			w.first = append(w.first, root+"/namespaces/"+firstNamespace+"/"+t.Resource)
		}
	}
	return nil
}

// floor returns the program that lists paths by one method.
func (w *harness) floor(method listMethod, paths []string, more ...string) program {
	return program{
		name: "the floor (" + method.String() + ")", path: w.self, env: w.plane.Env(),
		args: append(append([]string{floorCommand, "-kubeconfig", w.plane.Kubeconfig}, method.args()...), more...),
		in:   strings.Join(paths, "\n"),
	}
}

// command returns kubectl gc with arguments. found allows exit code 1.
func (w *harness) command(found bool, args ...string) program {
	return program{name: "kubectl gc " + strings.Join(args, " "), path: w.plugin, args: args, env: w.plane.Env(), found: found}
}
