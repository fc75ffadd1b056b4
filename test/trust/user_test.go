package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-gc/kubectl-gc/test/schema"
)

// runTimeout is the time limit of a run that does not wait for anything.
const runTimeout = 30 * time.Second

// user runs the program, with its own home and kubeconfig.
type user struct {
	*testing.T
	home    string
	program string
	always  []string // arguments of every run
	env     []string
}

// newUser returns a user whose kubeconfig has the server.
func newUser(t *testing.T, s *Server) *user {
	t.Helper()
	u := &user{T: t, home: t.TempDir(), program: program}
	config := filepath.Join(u.home, "kubeconfig")
	u.env = []string{"HOME=" + u.home, "KUBECONFIG=" + config, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + u.home, "TERM=xterm"}
	named := func(key string, value any) any { return []any{map[string]any{"name": "test", key: value}} }
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": named("cluster", map[string]any{"server": s.URL}),
		"users":    named("user", map[string]any{}),
		"contexts": named("context", map[string]any{"cluster": "test", "user": "test"}),
	})
	u.must(err)
	u.must(os.WriteFile(config, raw, 0o600))
	return u
}

func (u *user) must(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

// result is the result of a run.
type result struct {
	*testing.T
	args           []string
	code           int
	stdout, stderr string
}

// runs runs the program and waits for its end.
func (u *user) runs(args ...string) *result {
	u.Helper()
	return u.runsFor(runTimeout, args...)
}

// runsFor runs the program, which has to end within a time limit.
func (u *user) runsFor(most time.Duration, args ...string) *result {
	u.Helper()
	return u.starts(args...).ends(most)
}

// process is a running program.
type process struct {
	*user
	args           []string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// starts starts the program.
func (u *user) starts(args ...string) *process {
	u.Helper()
	p := &process{user: u, args: args, cmd: u.command(args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	u.must(p.cmd.Start())
	return p
}

// ends waits for the end of the run, which must come within a time limit.
func (p *process) ends(most time.Duration) *result {
	p.Helper()
	late := time.AfterFunc(most, func() { _ = p.cmd.Process.Kill() }) // fails if the program has ended
	p.exited(p.cmd.Wait())
	if !late.Stop() {
		p.Fatalf("kubectl gc %s runs for more than %s", strings.Join(p.args, " "), most)
	}
	if err := schema.Check("../../docs/schemas", p.stdout.Bytes()); err != nil {
		p.Errorf("kubectl gc %s: %v", strings.Join(p.args, " "), err)
	}
	return &result{p.T, p.args, p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
}

func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(u.Context(), u.program, slices.Concat(args, u.always)...)
	cmd.Env, cmd.Dir = u.env, u.home
	return cmd
}

// exited fails the test if the program did not exit by itself.
func (u *user) exited(err error) {
	u.Helper()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		u.Fatal(err)
	}
}

// terminal is a run at a terminal, which shows all of its output.
type terminal struct {
	*user
	args   []string
	cmd    *exec.Cmd
	keys   *os.File
	screen bytes.Buffer
}

// startAtTerminal starts the program at a terminal.
func (u *user) startAtTerminal(args ...string) *terminal {
	u.Helper()
	tty := &terminal{user: u, args: args, cmd: u.command(args...)}
	keys, err := pty.StartWithSize(tty.cmd, &pty.Winsize{Rows: 40, Cols: 160})
	u.must(err)
	u.Cleanup(func() { _ = keys.Close() })
	u.must(keys.SetReadDeadline(time.Now().Add(runTimeout)))
	tty.keys = keys
	return tty
}

// awaitAny waits until one of the words is on the screen, and fails if none appears.
func (tty *terminal) awaitAny(words ...string) string {
	tty.Helper()
	buffer := make([]byte, 4096)
	for {
		n, err := tty.keys.Read(buffer)
		tty.screen.Write(buffer[:n])
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(tty.screen.String(), w) }) {
			return tty.screen.String()
		}
		if err != nil {
			tty.Fatalf("kubectl gc %s does not ask: %v\n%s", strings.Join(tty.args, " "), err, tty.screen.String())
		}
	}
}

// press sends keys to the terminal.
func (tty *terminal) press(keys string) {
	tty.Helper()
	_, err := tty.keys.WriteString(keys)
	tty.must(err)
}

// ends waits for the end of the run; stdout is the content of the screen.
func (tty *terminal) ends() *result {
	tty.Helper()
	buffer := make([]byte, 4096)
	for {
		n, err := tty.keys.Read(buffer)
		tty.screen.Write(buffer[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_ = tty.cmd.Process.Kill() // fails if the program has ended
			tty.Fatalf("kubectl gc %s does not end\n%s", strings.Join(tty.args, " "), tty.screen.String())
		}
		if err != nil { // the program has closed its end
			break
		}
	}
	tty.exited(tty.cmd.Wait())
	return &result{T: tty.T, args: tty.args, code: tty.cmd.ProcessState.ExitCode(), stdout: tty.screen.String()}
}

// exits requires one of the exit codes.
func (r *result) exits(codes ...int) *result {
	r.Helper()
	if !slices.Contains(codes, r.code) {
		r.Errorf("kubectl gc %s exits with %d, want %d\nstdout: %s\nstderr: %s", strings.Join(r.args, " "), r.code, codes, short(r.stdout), short(r.stderr))
	}
	return r
}

func short(s string) string {
	const most = 4000
	return s[:min(len(s), most)]
}

// document has the common fields of the machine-readable documents.
type document struct {
	Complete bool
	Gaps     []gap
	Digest   string
	Backup   string
	Steps    []step
	Blocked  []map[string]any
}

type gap struct {
	Group, Resource, Namespace, Reason string
	Objects                            []string
	MoreObjects                        bool
}

type step struct {
	Action, Status string
	Object         struct{ Kind, Namespace, Name string }
}

// read decodes the document on standard output.
func (r *result) read() document {
	r.Helper()
	var d document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		r.Fatalf("kubectl gc %s writes no document: %v\nstdout: %s\nstderr: %s", strings.Join(r.args, " "), err, short(r.stdout), short(r.stderr))
	}
	return d
}

// hasGap reports whether a gap covers a type.
func (d document) hasGap(t *Type) bool {
	return slices.ContainsFunc(d.Gaps, func(g gap) bool {
		return g.Group == "*" || g.Group == t.Group && (g.Resource == t.Resource || g.Resource == "*")
	})
}

// backedUp returns the text of all files below the user's backups.
func (u *user) backedUp() string {
	u.Helper()
	var all strings.Builder
	root := filepath.Join(u.home, ".kube", "gc-backup")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all.Write(raw)
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		u.must(err)
	}
	return all.String()
}
