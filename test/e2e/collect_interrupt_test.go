package e2e

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// interruptingProxy returns a proxy that holds DELETEs until inFlight of them have arrived, then
// interrupts the program, and only then answers them.
func (s *scene) interruptingProxy(inFlight int) (f *recordingProxy, run func(args ...string) *process) {
	s.Helper()
	started, interrupted := make(chan *process, 1), make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(inFlight)
	var mu sync.Mutex
	n := 0
	f = s.throughProxy(func(through http.Handler) []fault {
		return []fault{{deleting(anyRequest), beforeResponse(through, func() {
			mu.Lock()
			n++
			early, last := n <= inFlight, n == inFlight
			mu.Unlock()
			if !early {
				return
			}
			if last {
				if err := (<-started).cmd.Process.Signal(os.Interrupt); err != nil {
					s.Error(err)
				}
				close(interrupted)
			}
			<-interrupted
		})}}
	}).allowWrites()
	return f, func(args ...string) *process {
		p := f.start(args...)
		started <- p
		return p
	}
}

func TestCollectDrainsOnFirstInterrupt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("drained")
	objects := s.createGarbage(ns, 60)
	f, run := s.interruptingProxy(3)
	r := run("collect", "-n", ns, "--yes", "--concurrency=3", "-o", "json").wait()
	got := f.requireDrained(r, objects)
	if got.Done < 3 {
		t.Errorf("%+v", got)
	}
	// A second run completes the work.
	more := s.tool().collect("-n", ns)
	if more.Summary != (collectedSummary{Deleted: got.Skipped, Done: got.Skipped}) {
		t.Errorf("the second run: %+v", more.Summary)
	}
	s.requireGone(objects...)
}

// requireDrained checks that an interrupted run has done the steps that it reports as done, and
// no others.
func (f *recordingProxy) requireDrained(r result, objects []object) collectedSummary {
	f.Helper()
	r.exits(f, 130).warns(f, "interrupted")
	got := decode[collected](f, r)
	checkCollected(f, got)
	if n := got.Summary; n.Done == 0 || n.Skipped == 0 || n.Failed > 0 || n.Done+n.Skipped != len(objects) {
		f.Errorf("%+v", n)
	}
	if writes := len(f.recordedWrites()); writes != got.Summary.Done {
		f.Errorf("%d writes, %d done", writes, got.Summary.Done)
	}
	for _, o := range objects {
		i := slices.IndexFunc(got.Steps, func(s collectedStep) bool { return s.Object.UID == string(o.GetUID()) })
		if said := got.Steps[i].Status == "done"; said != f.gone(o) {
			f.Errorf("%s is %s, gone: %t", o.GetName(), got.Steps[i].Status, f.gone(o))
		}
	}
	return got.Summary
}

func TestCollectQuitsOnSecondInterrupt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("quits")
	objects := s.createGarbage(ns, 2)
	f := s.throughProxy(func(http.Handler) []fault { return []fault{{deleting(anyRequest), stall}} }).allowWrites()
	p := f.start("collect", "-n", ns, "--yes", "--request-timeout=0", "--timeout=0")
	s.await("the DELETEs to stall", func(context.Context) (bool, error) { return len(f.recordedWrites()) == 2, nil })
	// Only a second interrupt that arrives after the first was handled makes the program quit.
	s.await("it to quit", func(context.Context) (bool, error) {
		select {
		case err := <-p.ended:
			p.ended <- err
			return true, nil
		default:
			if err := p.cmd.Process.Signal(os.Interrupt); !errors.Is(err, os.ErrProcessDone) {
				return false, err
			}
			return false, nil
		}
	})
	r := p.wait()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v: %s", p.cmd.ProcessState, r.Stderr)
	}
	s.requireUnchanged(objects...)
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 {
		t.Errorf("run again: %+v", got.Summary)
	}
}

// A reader that closes the pipe early, such as head, must not leave a run half done.
func TestCollectContinuesIfOutputIsClosed(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unread")
	objects := s.createGarbage(ns, 20)
	p := s.tool().command("collect", "-n", ns, "--yes", "-o", "jsonl", "--concurrency=1")
	p.cmd.Stdout = nil
	lines, err := p.cmd.StdoutPipe()
	s.must(err)
	s.must(p.cmd.Start())
	_, err = lines.Read(make([]byte, 1))
	s.must(err)
	s.must(lines.Close())
	err = p.cmd.Wait()
	s.requireGone(objects...)
	if err == nil || p.cmd.ProcessState.ExitCode() != 2 || !strings.Contains(p.stderr.String(), "error: write the result: ") {
		t.Errorf("it ends with %v: %s", err, p.stderr)
	}
}

// onNodeWithoutKubelet schedules a Pod to a node where no kubelet will ever stop it.
func onNodeWithoutKubelet(o object) {
	spec := o.Object["spec"].(map[string]any)
	spec["nodeName"], spec["terminationGracePeriodSeconds"] = "e2e-no-such-node", int64(3600)
}

// The user's connection breaks while the output goes to a file, not to the terminal.
func TestCollectDrainsWhenTerminalIsClosed(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // else the program would ignore it when nohup runs this test
	s := newScene(t)
	ns := s.namespace("hung-up")
	objects := s.createGarbage(ns, 60)
	connected := make(chan *os.File, 1)
	f := s.proxyCalling(deleting(anyRequest), func() {
		if err := (<-connected).Close(); err != nil {
			s.Error(err)
		}
	})
	p := f.command("collect", "-n", ns, "--yes", "--concurrency=1", "-o", "json")
	keys, err := pty.Start(p.cmd)
	s.must(err)
	go func() { p.ended <- p.cmd.Wait() }()
	connected <- keys
	f.requireDrained(p.wait(), objects)
}

func TestCollectContinuesUnderNohup(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("nohup")
	objects := s.createGarbage(ns, 10)
	started := make(chan *process, 1)
	f := s.proxyCalling(deleting(anyRequest), func() {
		if err := (<-started).cmd.Process.Signal(syscall.SIGHUP); err != nil {
			s.Error(err)
		}
	})
	p := f.command("collect", "-n", ns, "--yes", "--concurrency=1")
	nohup, err := exec.LookPath("nohup")
	s.must(err)
	p.cmd.Path, p.cmd.Args = nohup, append([]string{"nohup", filepath.Join(bin, "kubectl-gc")}, p.cmd.Args[1:]...)
	s.must(p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	started <- p
	p.wait().exits(t, 0)
	s.requireGone(objects...)
}

// TestCollectKilled kills the program in the middle of a run, so that it cannot clean up.
// Everything that it deleted must be in its backup, and a second run must do the rest.
func TestCollectKilled(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("killed")
	objects := s.createGarbage(ns, 60)
	const before = 25
	var n atomic.Int64
	full := make(chan struct{})
	f := s.throughProxy(func(http.Handler) []fault {
		return []fault{{deleting(func(*http.Request) bool {
			seen := n.Add(1)
			if seen == before+1 {
				close(full)
			}
			return seen > before
		}), stall}}
	}).allowWrites()
	backups := t.TempDir()
	p := f.start("collect", "-n", ns, "--yes", "--concurrency=4", "--backup-dir", backups)
	<-full
	s.must(p.cmd.Process.Kill())
	p.wait().exits(t, -1)
	left := 0
	for _, o := range objects {
		if !s.gone(o) {
			left++
		}
	}
	if left == 0 || left == len(objects) {
		t.Fatalf("%d of %d objects are left: it was not killed in the middle", left, len(objects))
	}

	s.tool().collect("-n", ns, "--backup-dir", backups)
	s.requireGone(objects...)
	folders, err := os.ReadDir(backups)
	s.must(err)
	if len(folders) != 2 {
		t.Errorf("there are %d backups, want 2", len(folders))
	}
	saved := map[string]map[string]any{}
	for _, folder := range folders {
		maps.Copy(saved, s.backupManifests(filepath.Join(backups, folder.Name())))
	}
	for _, o := range objects {
		manifest, ok := saved[string(o.GetUID())]
		if !ok {
			t.Errorf("%s is gone, and in no backup", o.GetName())
			continue
		}
		if diff := sameObject(o, manifest); diff != "" {
			t.Errorf("the backup of %s is wrong (-want +got)\n%s", o.GetName(), diff)
		}
	}
}
