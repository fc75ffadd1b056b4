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
	"strings"
)

const modulePath = "github.com/kubectl-gc/kubectl-gc"

// buildCommand builds the controlplane command of the current repository and returns the
// path of its binary.
func buildCommand(ctx context.Context) (string, error) {
	working, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	root, err := repository(working)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find folder for controlplane: %w", err)
	}
	dir := filepath.Join(cache, "kubectl-gc", "controlplane-command")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make folder for controlplane: %w", err)
	}

	// Packages are tested concurrently, so the binary of a checkout is replaced atomically.
	staging, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return "", fmt.Errorf("make folder for controlplane: %w", err)
	}
	defer os.RemoveAll(staging)
	fresh := filepath.Join(staging, "controlplane")
	sum := sha256.Sum256([]byte(root))
	path := filepath.Join(dir, "controlplane-"+hex.EncodeToString(sum[:8]))
	// The go command does not link a binary again that it finds in its place and up to date.
	if err := copyFile(fresh, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("build controlplane: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build",
		"-C", filepath.Join(root, "test", "controlplane"), "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", fresh, ".")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); ctx.Err() != nil {
		return "", fmt.Errorf("build controlplane: %w", ctx.Err())
	} else if err != nil {
		return "", fmt.Errorf("build controlplane: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("build controlplane: %w", err)
	}
	return path, nil
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// repository returns the root folder of the main module around dir.
func repository(dir string) (string, error) {
	for root := dir; ; root = filepath.Dir(root) {
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil && declaresModule(string(mod), modulePath) {
			return root, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("find repository: %w", err)
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("find repository: neither %s nor a folder above it holds the module %s", dir, modulePath)
		}
	}
}

func declaresModule(mod, module string) bool {
	for line := range strings.Lines(mod) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
			return strings.Trim(fields[1], `"`) == module
		}
	}
	return false
}
