package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

var errNotBuilt = errors.New("the control plane's binaries are not built: controlplane build does it, in minutes")

func buildCommand(ctx context.Context, args []string, s streams) error {
	fs := flag.NewFlagSet("build", flag.ContinueOnError)
	minor := fs.String("version", "", versionUsage)
	onlyIfBuilt := fs.Bool("only-if-built", false, "fail rather than build the binaries")
	if err := parse(fs, args, s); err != nil {
		return err
	}
	bin, err := build(ctx, s.err, *minor, *onlyIfBuilt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, bin.servers)
	return err
}

// binaries are the folders of the programs of a control plane.
type binaries struct {
	servers string // kube-apiserver and kube-controller-manager
	tools   string // etcd and kubectl, the same for every version of Kubernetes
}

// build returns the folders that hold the binaries of a minor version; empty means the newest. If
// they do not exist, it builds them, or returns errNotBuilt if onlyIfBuilt is set. Concurrent
// builds wait for each other. It reports slow steps on progress.
func build(ctx context.Context, progress io.Writer, minor string, onlyIfBuilt bool) (binaries, error) {
	tools, err := buildVersion(ctx, progress, "", onlyIfBuilt)
	if err != nil || minor == "" {
		return binaries{servers: tools, tools: tools}, err
	}
	servers, err := buildVersion(ctx, progress, minor, onlyIfBuilt)
	return binaries{servers: servers, tools: tools}, err
}

// buildVersion builds the tools of the go.mod of one version, and returns their folder. The folder
// appears when it is complete.
func buildVersion(ctx context.Context, progress io.Writer, minor string, onlyIfBuilt bool) (string, error) {
	m, err := findModule(minor)
	if err != nil {
		return "", err
	}
	flags := []string{"-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=" + linkerFlags(m.version)}
	key, err := m.key(ctx, flags)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find folder for binaries: %w", err)
	}
	dir := filepath.Join(cache, "kubectl-gc", "controlplane", m.version+"-"+key)
	if isBuilt(dir) {
		return dir, nil
	}
	if onlyIfBuilt {
		return "", errNotBuilt
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("make folder for binaries: %w", err)
	}
	unlock, err := lock(ctx, dir+".lock", func() {
		fmt.Fprintf(progress, "another process builds the control plane in %s, waiting for it\n", dir)
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if isBuilt(dir) {
		return dir, nil
	}
	fmt.Fprintf(progress, "building Kubernetes %s from Go modules into %s\nthe first build takes minutes, later runs use what it built\n", m.version, dir)
	return dir, m.build(ctx, progress, flags, dir)
}

func isBuilt(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, apiServerName))
	return err == nil
}

// build builds the tools of the module into a folder.
func (m module) build(ctx context.Context, progress io.Writer, flags []string, dir string) error {
	staging := dir + ".unfinished" // may be left of a build that was killed
	if err := errors.Join(os.RemoveAll(staging), os.RemoveAll(dir), os.Mkdir(staging, 0o755)); err != nil {
		return fmt.Errorf("make folder for binaries: %w", err)
	}
	defer os.RemoveAll(staging)
	defer reportTime(progress)()
	args := append([]string{"build", "-modfile=" + m.file, "-o", staging + string(filepath.Separator)}, flags...)
	cmd := goCommand(ctx, append(args, "tool")...)
	cmd.Stderr = progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build Kubernetes %s: %w", m.version, errors.Join(ctx.Err(), err))
	}
	// The package of etcd is named server/v3. Older versions have no etcd.
	if err := os.Rename(filepath.Join(staging, "server"), filepath.Join(staging, "etcd")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("put etcd in place: %w", err)
	}
	if err := os.Rename(staging, dir); err != nil {
		return fmt.Errorf("put binaries in place: %w", err)
	}
	return nil
}

// reportTime writes how much time has passed, every half a minute until stop is called.
func reportTime(out io.Writer) (stop func()) {
	begun, tick, done := time.Now(), time.NewTicker(30*time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				fmt.Fprintln(out, "still building after", time.Since(begun).Round(time.Second))
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
	}
}

// goCommand returns a go command for this machine, without cgo.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that go removes its temporary files
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if os.Getenv("GOGC") == "" {
		cmd.Env = append(cmd.Env, "GOGC=200") // the compiler needs a tenth less time
	}
	return cmd
}

// linkerFlags returns flags that set the version of the binaries. A release build sets these
// variables from git (hack/lib/version.sh of Kubernetes); the commit is not known here.
func linkerFlags(version string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor,
			"-X", pkg+".gitCommit=unknown",
			"-X", pkg+".gitTreeState=clean",
		)
	}
	return strings.Join(flags, " ")
}

// key returns a hash of everything on which the binaries depend.
func (m module) key(ctx context.Context, flags []string) (string, error) {
	toolchain, err := goCommand(ctx, "env", "GOVERSION", "GOFLAGS").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for its version: %w", errors.Join(ctx.Err(), err))
	}
	settings := slices.DeleteFunc(strings.Fields(string(toolchain)), func(flag string) bool { return slices.Contains(flags, flag) })
	h := sha256.New()
	for _, part := range append([]string{m.mod, m.sum, strings.Join(settings, " "), runtime.GOOS, runtime.GOARCH}, flags...) {
		fmt.Fprintf(h, "%d:%s", len(part), part) // the length separates the parts
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
