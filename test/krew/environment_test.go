package krew

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const top = "../.."

// bin is a folder with krew, named as kubectl looks for plugins, and its validator.
var bin string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "kubectl-gc-krew-"); err == nil {
		defer os.RemoveAll(bin)
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build() error {
	for program, path := range map[string]string{
		"kubectl-krew":           "sigs.k8s.io/krew/cmd/krew",
		"validate-krew-manifest": "sigs.k8s.io/krew/cmd/validate-krew-manifest",
	} {
		if said, err := exec.Command("go", "build", "-o", filepath.Join(bin, program), path).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, said)
		}
	}
	return nil
}

// user runs kubectl and krew without access to the network.
type user struct {
	*testing.T
	root string // the root folder of krew
	env  []string
}

func newUser(t *testing.T) user {
	t.Helper()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: there is no kubectl in the PATH; make test-all puts the one there that it has built")
	}
	root := t.TempDir()
	// krew considers an index with a .git as fetched. It does not need to fetch it for anything
	// in these tests.
	if err := os.MkdirAll(filepath.Join(root, "index", "default", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := []string{bin, filepath.Join(root, "bin"), filepath.Dir(kubectl), os.Getenv("PATH")}
	return user{t, root, []string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(),
		"KREW_ROOT=" + root, "KREW_NO_UPGRADE_CHECK=1", "KUBECONFIG=/does/not/exist",
		"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", // every address but loopback fails
	}}
}

// result is the result of a command.
type result struct {
	stdout, stderr string
	code           int
}

// runs runs a command, which has to exit with a code.
func (u user) runs(code int, line ...string) result {
	u.Helper()
	var stdout, stderr bytes.Buffer
	path := filepath.Join(bin, line[0])
	if _, err := os.Stat(path); err != nil {
		path, _ = exec.LookPath(line[0])
	}
	cmd := exec.CommandContext(u.Context(), path, line[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = u.env, &stdout, &stderr
	err := cmd.Run()
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || r.code != code {
		u.Fatalf("%s exits with %d, want %d: %v\nstdout: %s\nstderr: %s", strings.Join(line, " "), r.code, code, err, r.stdout, r.stderr)
	}
	return r
}

// buildArchive builds the archive for this machine, under a name, and the manifest for it.
func buildArchive(t *testing.T, name string) (archive, manifest string) {
	t.Helper()
	file, folder := "kubectl-"+strings.ReplaceAll(name, "-", "_"), t.TempDir()
	archive = filepath.Join(folder, fmt.Sprintf("%s_%s_%s_%s.tar.gz", file, version, runtime.GOOS, runtime.GOARCH))
	manifest = filepath.Join(folder, name+".yaml")
	ldflags := "-s -w -X " + module + "pkg/cli.release=" + version + " -X " + module + "pkg/plugin.name=" + name
	for _, line := range [][]string{
		{"go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", filepath.Join(folder, file), "./cmd/kubectl-gc"},
		{"tar", "-czf", archive, "LICENSE", "README.md", "-C", folder, file},
		{"go", "run", "./test/dist", "-version", version, "-from", folder, "-partial", "-o", manifest},
	} {
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, said)
		}
	}
	return archive, manifest
}

const (
	module  = "github.com/kubectl-gc/kubectl-gc/"
	version = "v0.0.0-test"
)
