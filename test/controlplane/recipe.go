package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// recipe has everything on which the binaries depend.
type recipe struct {
	module module
	dir    string   // with go.mod and go.sum
	work   string   // folder for temporary files that go leaves when it is interrupted; may be empty
	flags  []string // of go build
	key    string   // hash of the other fields and of the toolchain
}

// newRecipe reads the recipe of a module, which is in dir.
func newRecipe(ctx context.Context, m module, dir string) (recipe, error) {
	r := recipe{module: m, dir: dir, flags: buildFlags(m.version)}

	// Run inside the module, since its go line may select another toolchain.
	env := r.goCommand("env", "GOVERSION", "GOFLAGS")
	var stderr bytes.Buffer
	env.Stderr = &stderr
	toolchain, err := env.Output()
	if err != nil {
		return recipe{}, fmt.Errorf("ask go for its version: %w\n%s", err, stderr.Bytes())
	}
	if err := ctx.Err(); err != nil {
		return recipe{}, err
	}
	settings := slices.DeleteFunc(strings.Fields(string(toolchain)), func(flag string) bool { return slices.Contains(r.flags, flag) })
	r.key = buildKey(m.mod, m.sum, strings.Join(settings, " "), r.flags)
	return r, nil
}

// buildKey returns the name of a set of binaries. Equal inputs have equal keys.
func buildKey(mod, sum, toolchain string, flags []string) string {
	return hash(append([]string{mod, sum, toolchain, runtime.GOOS, runtime.GOARCH}, flags...)...)
}

func buildFlags(version string) []string {
	return []string{"-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=" + linkerFlags(version)}
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

// goCommand returns a go command in the module, for this machine, without cgo.
func (r recipe) goCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(),
		"PWD="+r.dir, "GOWORK=off", "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if r.work != "" {
		cmd.Env = append(cmd.Env, "GOTMPDIR="+r.work)
	}
	return cmd
}
