package testcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// buildCommand builds the controlplane command of the current repository. It returns the path of its
// binary and the folder in which that runs.
func buildCommand(ctx context.Context) (path, module string, err error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", "", fmt.Errorf("find repository: %w", err)
	}
	module = filepath.Join(filepath.Dir(string(mod)), "test", "controlplane")
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("find folder for controlplane: %w", err)
	}
	dir := filepath.Join(cache, "kubectl-gc", "controlplane-command")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", fmt.Errorf("make folder for controlplane: %w", err)
	}

	// Packages are tested concurrently, so the binary of a checkout is replaced atomically.
	staging, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return "", "", fmt.Errorf("make folder for controlplane: %w", err)
	}
	defer os.RemoveAll(staging)
	fresh := filepath.Join(staging, "controlplane")
	sum := sha256.Sum256([]byte(module))
	path = filepath.Join(dir, "controlplane-"+hex.EncodeToString(sum[:8]))
	// The go command does not link a binary again that it finds in its place and up to date.
	if err := copyFile(fresh, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("build controlplane: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build",
		"-C", module, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", fresh, ".")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); ctx.Err() != nil {
		return "", "", fmt.Errorf("build controlplane: %w", ctx.Err())
	} else if err != nil {
		return "", "", fmt.Errorf("build controlplane: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", "", fmt.Errorf("build controlplane: %w", err)
	}
	return path, module, nil
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}
