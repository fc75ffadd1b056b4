package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// interrupts is a front at which the program is interrupted once it has so many
// DELETEs in flight; only then are they answered.
func (s *scene) interrupts(inFlight int) (f *recordingProxy, run func(args ...string) *process) {
	s.Helper()
	started, interrupted := make(chan *process, 1), make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(inFlight)
	var mu sync.Mutex
	n := 0
	f = s.throughProxy(func(through http.Handler) []fault {
		return []fault{{deleting(anything), before(through, func() {
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
	}).acting()
	return f, func(args ...string) *process {
		p := f.starts(args...)
		started <- p
		return p
	}
}

func TestCollectDrainsAtTheFirstInterrupt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("drained")
	objects := s.many(ns, 60)
	f, run := s.interrupts(3)
	r := run("collect", "-n", ns, "--yes", "--concurrency=3", "-o", "json").ends()
	got := f.drained(r, objects)
	if got.Done < 3 {
		t.Errorf("%+v", got)
	}
	// Running again continues.
	more := s.tool().collect("-n", ns)
	if more.Summary != (collectedSummary{Done: got.Skipped}) {
		t.Errorf("the second run: %+v", more.Summary)
	}
	s.goes(objects...)
}

// drained checks that what a collection which was interrupted says to be done is
// done, and nothing else.
func (f *recordingProxy) drained(r result, objects []object) collectedSummary {
	f.Helper()
	r.exits(f, 130).warns(f, "interrupted")
	got := decode[collected](f, r)
	checkCollected(f, got)
	if n := got.Summary; n.Done == 0 || n.Skipped == 0 || n.Failed > 0 || n.Done+n.Skipped != len(objects) {
		f.Errorf("%+v", n)
	}
	if writes := len(f.wrote()); writes != got.Summary.Done {
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

func TestCollectTellsAPersonWhatWasDoneUntilTheInterrupt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("told")
	s.many(ns, 60)
	_, run := s.interrupts(1)
	run("collect", "-n", ns, "--yes", "--concurrency=1").ends().exits(t, 130).
		shows(t, "skipped", "the run ended before this step", "and 5", "deleted ", "Undo: kubectl gc restore ").
		warns(t, "interrupted: only the steps above were done; run the command again to continue")
}

func TestCollectQuitsAtTheSecondInterrupt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("quits")
	objects := s.many(ns, 2)
	f := s.throughProxy(func(http.Handler) []fault { return []fault{{deleting(anything), stalls}} }).acting()
	p := f.starts("collect", "-n", ns, "--yes", "--request-timeout=0", "--timeout=0")
	s.await("the DELETEs to stall", func(context.Context) (bool, error) { return len(f.wrote()) == 2, nil })
	// The second one counts as soon as the first was taken in.
	s.await("it to quit", func(context.Context) (bool, error) {
		select {
		case err := <-p.ended:
			p.ended <- err
			return true, nil
		default:
			return false, p.cmd.Process.Signal(os.Interrupt)
		}
	})
	r := p.ends()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v: %s", p.cmd.ProcessState, r.Stderr)
	}
	s.untouched(objects...)
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 {
		t.Errorf("run again: %+v", got.Summary)
	}
}

// A reader that has seen enough, such as head, must not leave a run half done.
func TestCollectGoesOnThoughNobodyReadsAnyMore(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unread")
	objects := s.many(ns, 20)
	p := s.tool().command("collect", "-n", ns, "--yes", "-o", "jsonl", "--concurrency=1")
	p.cmd.Stdout = nil
	lines, err := p.cmd.StdoutPipe()
	s.must(err)
	s.must(p.cmd.Start())
	_, err = lines.Read(make([]byte, 1))
	s.must(err)
	s.must(lines.Close())
	err = p.cmd.Wait()
	s.goes(objects...)
	if err == nil || p.cmd.ProcessState.ExitCode() != 2 || !strings.Contains(p.stderr.String(), "error: write the result: ") {
		t.Errorf("it ends with %v: %s", err, p.stderr)
	}
}

// onANode puts a pod on a node where no kubelet will ever stop it.
func onANode(o object) {
	spec := o.Object["spec"].(map[string]any)
	spec["nodeName"], spec["terminationGracePeriodSeconds"] = "e2e-no-such-node", int64(3600)
}

func TestCollectWaitsForAPodToStopUntilTheTimeIsOver(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("stopping")
	running := s.create(pod(ns, "running", onANode, ownedBy(lost())))
	below := s.create(configMap(ns, "below", ownedBy(to(running))))
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "Pod/running", "must stop first (grace period)", "ConfigMap/below", "its owner is deleted")
	r := s.gc("collect", "-n", ns, "--yes", "--timeout=2s").exits(t, 1)
	r.warns(t, "error: not finished within --timeout 2s: Pod/running still exists: waits for the kubelet to stop it; run the command again to continue")
	if r.Took < 2*time.Second || r.Took > waitTimeout/2 {
		t.Errorf("it takes %s", r.Took)
	}
	s.untouched(below)
	live, err := s.at(running).Get(t.Context(), "running", metav1.GetOptions{})
	s.must(err)
	if live.GetDeletionTimestamp() == nil {
		t.Error("the pod is not being deleted")
	}
}

func TestCollectGoesOnWhenThePodHasStopped(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("stopped")
	running := s.create(pod(ns, "running", onANode, ownedBy(lost())))
	below := s.create(configMap(ns, "below", ownedBy(to(running))))
	p := s.tool().starts("collect", "-n", ns, "--yes", "-o", "jsonl")
	p.says(`"waiting"`)
	s.untouched(below)
	now := int64(0)
	s.must(s.at(running).Delete(t.Context(), "running", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	r := p.ends().exits(t, 0)
	s.goes(running, below)
	last := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	var finished struct {
		Event string
		collectedSummary
	}
	s.must(json.Unmarshal([]byte(last[len(last)-1]), &finished))
	if finished.Event != "finished" || finished.collectedSummary != (collectedSummary{Done: 2}) {
		t.Errorf("it ends with %s", last[len(last)-1])
	}
}
