package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runner is a run in a separate process, with its own temporary folder.
type runner struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *json.Decoder
	stderr bytes.Buffer
	tmp    string
}

// newRunner starts a run and does not wait until it is ready.
func newRunner(t *testing.T, args ...string) *runner {
	t.Helper()
	r := &runner{tmp: shortTemp(t)}
	r.cmd = exec.Command(os.Args[0], append([]string{"run", "--only-if-built"}, args...)...)
	r.cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+r.tmp)
	r.cmd.Stderr = &r.stderr
	stdin, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdin, r.stdout = stdin, json.NewDecoder(stdout)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	return r
}

// shortTemp returns a temporary folder whose path is short enough for a socket.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// needBinaries skips tests that would otherwise take minutes.
func needBinaries(t *testing.T) {
	t.Helper()
	needBinariesOf(t, "")
}

// needBinariesOf does the same for a minor version.
func needBinariesOf(t *testing.T, minor string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	if _, err := build(t.Context(), newThread(), io.Discard, minor, true); errors.Is(err, errNotBuilt) {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// answer reads a line that must not be an error.
func answer[T any](t *testing.T, r *runner) T {
	t.Helper()
	var line json.RawMessage
	if err := r.stdout.Decode(&line); err != nil {
		t.Fatalf("read answer: %v\n%s", err, &r.stderr)
	}
	var wanted T
	var refused failure
	if err := errors.Join(json.Unmarshal(line, &wanted), json.Unmarshal(line, &refused)); err != nil {
		t.Fatal(err)
	}
	if refused.Error != "" {
		t.Fatalf("the run answers: %s", refused.Error)
	}
	return wanted
}

func (r *runner) say(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(r.stdin, line); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the run to end by itself.
func (r *runner) exit(t *testing.T) int {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = r.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		_ = r.cmd.Process.Kill()
		t.Fatal("the run doesn't end")
		return 0
	}
}

func identities(t *testing.T, pids map[string]int) []identity {
	t.Helper()
	var all []identity
	for _, pid := range pids {
		id, err := identify(pid)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	return all
}

// allGone requires that the processes end soon.
func allGone(t *testing.T, all []identity) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := awaitGone(ctx, all...); err != nil {
		t.Error(err)
	}
}

// left returns the files that a run has left in its temporary folder.
func (r *runner) left(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.tmp, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sender returns a function that sends requests as a user and returns status and body.
func sender(t *testing.T, r ready, user string) func(method, path, body string) (int, string) {
	t.Helper()
	data, err := os.ReadFile(r.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var config kubeconfig
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	token := ""
	for _, u := range config.Users {
		if u.Name == user {
			token = u.User.Token
		}
	}
	client := newClient(config.Clusters[0].Cluster.Authority)
	return func(method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, r.Server+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(answer)
	}
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// orphan returns a ConfigMap whose owner never existed.
func orphan(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":"00000000-0000-0000-0000-000000000000"}]}}`, name)
}

// requireCollected creates an orphan and requires that the collector deletes it soon.
func requireCollected(t *testing.T, send func(method, path, body string) (int, string), name string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		code, body := send(http.MethodGet, configMaps+"/"+name, "")
		if code == http.StatusNotFound {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not collected: %d %s", name, code, body)
		}
		<-tick.C
	}
}

func TestRun(t *testing.T) {
	needBinaries(t)
	t.Setenv("KUBECONFIG", "/does/not/exist")
	r := newRunner(t, "--collector=off")
	start := answer[ready](t, r)
	if start.Collector != collectorOff || start.PIDs["kube-controller-manager"] == 0 {
		t.Errorf("started as %+v", start)
	}

	admin := sender(t, start, "admin")
	if code, body := admin(http.MethodPost, configMaps, orphan("a")); code != http.StatusCreated {
		t.Fatalf("create orphan: %d %s", code, body)
	}
	pod := `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"none"}]}}`
	if code, body := admin(http.MethodPost, "/api/v1/namespaces/default/pods", pod); code != http.StatusCreated {
		t.Errorf("create pod: %d %s", code, body)
	}
	for _, user := range []string{"alice", "bob", "carol", "dave"} {
		if code, body := sender(t, start, user)(http.MethodGet, configMaps, ""); code != http.StatusForbidden || !strings.Contains(body, user) {
			t.Errorf("%s lists configmaps: %d %s, want 403", user, code, body)
		}
	}
	_, body := admin(http.MethodGet, "/version", "")
	if version := newestModule().version; os.Getenv(dirVariable) == "" && !strings.Contains(body, `"`+version+`"`) {
		t.Errorf("/version is %s, want %s", body, version)
	}

	r.say(t, "collector on")
	if on := answer[switched](t, r); on.Collector != collectorOn || on.PIDs["kube-controller-manager"] == start.PIDs["kube-controller-manager"] {
		t.Errorf("switched on to %+v", on)
	}
	requireCollected(t, admin, "a")

	r.say(t, "collector absent")
	if absent := answer[switched](t, r); absent.PIDs["kube-controller-manager"] != 0 || absent.Manager != "" {
		t.Errorf("switched to absent: %+v", absent)
	}
	r.say(t, "collector perhaps")
	var refused failure
	if err := r.stdout.Decode(&refused); err != nil || !strings.Contains(refused.Error, `"perhaps"`) {
		t.Errorf("a wrong command is answered by %+v, %v", refused, err)
	}
	r.say(t, "restart kube-apiserver")
	restarted := answer[switched](t, r)
	if pid := restarted.PIDs["kube-apiserver"]; pid == 0 || pid == start.PIDs["kube-apiserver"] {
		t.Errorf("restarted: %+v", restarted)
	}
	if code, body := admin(http.MethodGet, "/api/v1/namespaces/default/pods/p", ""); code != http.StatusOK {
		t.Errorf("read the pod after the restart: %d %s", code, body)
	}
	r.say(t, "collector on")
	on := answer[switched](t, r)
	r.say(t, "kill kube-controller-manager")
	if killed := answer[switched](t, r); killed.PIDs["kube-controller-manager"] != 0 || on.PIDs["kube-controller-manager"] == 0 {
		t.Errorf("killed: %+v", killed)
	}
	r.say(t, "collector on")
	servers := identities(t, answer[switched](t, r).PIDs)

	r.stdin.Close()
	if code := r.exit(t); code != exitDone {
		t.Errorf("exit code %d\n%s", code, &r.stderr)
	}
	allGone(t, servers)
	if left := r.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestRunOlderVersions(t *testing.T) {
	for _, m := range modules()[1:] {
		t.Run(m.minor(), func(t *testing.T) {
			needBinariesOf(t, m.minor())
			r := newRunner(t, "--version="+m.minor())
			start := answer[ready](t, r)
			admin := sender(t, start, "admin")
			if _, body := admin(http.MethodGet, "/version", ""); os.Getenv(dirVariable) == "" && !strings.Contains(body, `"`+m.version+`"`) {
				t.Errorf("/version is %s, want %s", body, m.version)
			}
			if code, body := admin(http.MethodPost, configMaps, orphan("a")); code != http.StatusCreated {
				t.Fatalf("create orphan: %d %s", code, body)
			}
			requireCollected(t, admin, "a")
			r.stdin.Close()
			if code := r.exit(t); code != exitDone {
				t.Errorf("exit code %d\n%s", code, &r.stderr)
			}
		})
	}
}

func TestKilledRunLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process of its parent's death")
	}
	needBinaries(t)
	r := newRunner(t)
	servers := identities(t, answer[ready](t, r).PIDs)
	if len(servers) != 3 {
		t.Errorf("%d servers, want 3", len(servers))
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.exit(t)
	allGone(t, servers)

	t.Setenv("TMPDIR", r.tmp)
	removeStale()
	if left := r.left(t); len(left) > 0 {
		t.Errorf("not swept: %q", left)
	}
}

func TestRunEndsWhenAServerDies(t *testing.T) {
	needBinaries(t)
	r := newRunner(t, "--collector=absent")
	start := answer[ready](t, r)
	servers := identities(t, start.PIDs)
	if err := syscall.Kill(start.PIDs["kube-apiserver"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := r.exit(t); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if want := "kube-apiserver ended by itself (signal: killed)"; !strings.Contains(r.stderr.String(), want) {
		t.Errorf("stderr is %q, want %q in it", &r.stderr, want)
	}
	allGone(t, servers)
	if left := r.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestFailedStartReportsReason(t *testing.T) {
	needBinaries(t)
	r := newRunner(t, "--apiserver-flag=no-such-flag=1")
	var why failure
	if err := r.stdout.Decode(&why); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(why.Error, "kube-apiserver ended") || !strings.Contains(why.Error, "unknown flag: --no-such-flag") {
		t.Errorf("the run answers %q", why.Error)
	}
	if code := r.exit(t); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if left := r.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestInterruptDuringStart(t *testing.T) {
	needBinaries(t)
	r := newRunner(t)
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		logs, _ := filepath.Glob(filepath.Join(r.tmp, "*", "kube-apiserver.log"))
		if len(logs) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("kube-apiserver is not started")
		}
		<-tick.C
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := r.exit(t); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, &r.stderr)
	}
	if left := r.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
