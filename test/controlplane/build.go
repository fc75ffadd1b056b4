package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

var errNotBuilt = errors.New("the control plane's binaries are not built: controlplane build does it, in minutes")

func buildCommand(ctx context.Context, args []string, s streams) error {
	fs := flag.NewFlagSet("build", flag.ContinueOnError)
	var version string
	registerVersion(fs, &version)
	onlyIfBuilt := fs.Bool("only-if-built", false, "fail rather than build the binaries")
	if err := parse(fs, args, s); err != nil {
		return err
	}
	bin, err := build(ctx, newThread(), s.err, version, *onlyIfBuilt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, bin.servers)
	return err
}

// build returns the folders that hold the binaries of a minor version; empty means the newest. If
// they do not exist, it builds them, or returns errNotBuilt if onlyIfBuilt is set. Concurrent
// builds wait for each other. It reports slow steps on progress.
func build(ctx context.Context, t thread, progress io.Writer, minor string, onlyIfBuilt bool) (binaries, error) {
	m, err := findModule(minor)
	if err != nil {
		return binaries{}, err
	}
	base, chosen, err := binariesBase()
	if err != nil {
		return binaries{}, err
	}
	if chosen && builtElsewhere(base) {
		return binaries{servers: base, tools: base}, nil
	}
	newest := newestModule()
	tools, err := buildModule(ctx, t, progress, newest, base, chosen, onlyIfBuilt)
	if err != nil || m == newest {
		return binaries{servers: tools, tools: tools}, err
	}
	servers, err := buildModule(ctx, t, progress, m, base, false, onlyIfBuilt)
	return binaries{servers: servers, tools: tools}, err
}

// buildModule builds the programs of a module into a folder below base, or into base itself, and
// returns that folder.
func buildModule(ctx context.Context, t thread, progress io.Writer, m module, base string, intoBase, onlyIfBuilt bool) (string, error) {
	module, err := m.write(base)
	if err != nil {
		return "", err
	}
	r, err := newRecipe(ctx, m, module)
	if err != nil {
		return "", err
	}
	dir := base
	if !intoBase {
		dir = filepath.Join(base, m.version+"-"+r.key)
	}
	if built(dir, r) {
		return dir, nil
	}
	if onlyIfBuilt {
		return "", errNotBuilt
	}
	return dir, fill(ctx, t, dir, r, progress)
}

// fill builds every program into dir. Each binary is renamed into place, and the key is written
// after the last of them, so that other processes find a complete folder or one without its key.
func fill(ctx context.Context, t thread, dir string, r recipe, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder for binaries: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, ".lock"), func() {
		fmt.Fprintf(out, "another process builds the control plane in %s, waiting for it\n", dir)
	})
	if err != nil {
		return err
	}
	defer unlock()
	if built(dir, r) {
		return nil
	}
	removeStaging(dir)
	staging, err := os.MkdirTemp(dir, stagingPrefix)
	if err != nil {
		return fmt.Errorf("make folder for binaries: %w", err)
	}
	defer os.RemoveAll(staging)
	r.work = staging

	fmt.Fprintf(out, "building Kubernetes %s from Go modules into %s\nthe first build takes minutes, later runs use what it built\n", r.module.version, dir)
	p, err := newProgress(ctx, t, r, out)
	if err != nil {
		return err
	}
	defer p.stop()
	for _, program := range r.module.programs() {
		if err := r.compile(ctx, t, program, filepath.Join(staging, program.name), p); err != nil {
			return err
		}
	}
	// The old key must never be beside new binaries.
	if err := writeWhole(filepath.Join(dir, keyFile), []byte("unfinished"), 0o644); err != nil {
		return err
	}
	for _, program := range r.module.programs() {
		if err := os.Rename(filepath.Join(staging, program.name), filepath.Join(dir, program.name)); err != nil {
			return fmt.Errorf("put %s in place: %w", program.name, err)
		}
	}
	return writeWhole(filepath.Join(dir, keyFile), []byte(r.key), 0o644)
}

const stagingPrefix = ".build-"

// removeStaging removes the temporary files of builds that were killed in dir. The caller holds
// its lock.
func removeStaging(dir string) {
	stale, _ := filepath.Glob(filepath.Join(dir, stagingPrefix+"*"))
	for _, path := range stale {
		_ = os.RemoveAll(path) // they only waste space, and the next build tries again
	}
}

func (r recipe) compile(ctx context.Context, t thread, program program, out string, p *progress) error {
	p.begin(program.name)
	args := append([]string{"build", "-v", "-o", out}, r.flags...)
	cmd := r.goCommand(append(args, program.path)...)
	cmd.Stderr = p
	if err := t.run(ctx, cmd); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program.name, err, p.complaints())
	}
	return nil
}
