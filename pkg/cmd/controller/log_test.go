package controller

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// logged returns what a roundLog writes to standard output and standard error.
func logged(format string, write func(*roundLog)) (stdout, stderr []string) {
	var out, errs bytes.Buffer
	scan := cli.NewScanOptions(cli.Streams{
		Out: &out, Err: &errs, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 11, 24, 9, 0, 0, 5e8, time.FixedZone("", 3600)) },
	})
	options := cli.NewMutatingOptions("collect", scan)
	options.Output.Format = format
	write(&roundLog{options: options})
	return lines(out.String()), lines(errs.String())
}

func lines(text string) []string {
	const at = "2026-11-24T08:00:00Z  "
	out := strings.Split(strings.ReplaceAll(text, at, ""), "\n")
	return out[:len(out)-1]
}

var (
	orphan = &plan.Step{
		Action: plan.ActionDelete, Object: plan.ObjectState{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "token", UID: "1"}},
		Reason: reason.Of(reason.OwnersLost{Owners: []reason.Owner{{APIVersion: "apps/v1", Kind: "Deployment", Name: "old", UID: "2", Found: reason.Found{State: reason.StateMissing}}}}),
	}
	done    = event.Event{Event: event.Ended, Status: event.Done}
	changed = event.Event{Event: event.Ended, Status: event.Skipped, Reason: reason.KeepsChanging(3)}
	refused = event.Event{Event: event.Ended, Status: event.Failed, Reason: reason.KeepsChanging(5)}
)

func TestStepThatIsTriedAgainIsLoggedOncePerReason(t *testing.T) {
	other := *orphan
	other.Object.Name, other.Object.UID = "other", "3"
	got, _ := logged("table", func(l *roundLog) {
		for _, e := range []event.Event{changed, changed, refused, refused, changed, done, changed} {
			l.step(orphan, e)
		}
		l.step(&other, changed)
		l.step(&other, changed)
	})
	if diff := cmp.Diff([]string{
		"skipped delete Secret/token -n shop: it keeps changing: gave up after 3 attempts",
		"failed to delete Secret/token -n shop: it keeps changing: gave up after 5 attempts",
		"skipped delete Secret/token -n shop: it keeps changing: gave up after 3 attempts",
		"deleted Secret/token -n shop: its only owner, Deployment/old, does not exist",
		"skipped delete Secret/token -n shop: it keeps changing: gave up after 3 attempts",
		"skipped delete Secret/other -n shop: it keeps changing: gave up after 3 attempts",
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStepsAsLinesOfJSON(t *testing.T) {
	hostile := *orphan
	hostile.Object.Name = "a\n\x1b[31m\u202e"
	got, _ := logged("jsonl", func(l *roundLog) {
		l.step(orphan, done)
		l.step(orphan, changed)
		l.step(&hostile, event.Event{Event: event.Ended, Status: event.Failed})
	})
	const object = `{"apiVersion":"v1","kind":"Secret","namespace":"shop","name":"token","uid":"1"}`
	if diff := cmp.Diff([]string{
		`{"action":"delete","object":` + object + `,"status":"done","reason":"OwnersLost",` +
			`"parameters":{"owners":[{"apiVersion":"apps/v1","kind":"Deployment","name":"old","uid":"2","state":"OwnerMissing"}],"cascade":""},"message":"its only owner, Deployment/old, does not exist","time":"2026-11-24T08:00:00Z"}`,
		`{"action":"delete","object":` + object + `,"status":"skipped","reason":"KeepsChanging","parameters":{"attempts":3},"message":"it keeps changing: gave up after 3 attempts","time":"2026-11-24T08:00:00Z"}`,
		`{"action":"delete","object":` + strings.Replace(object, "token", `a\n\u001b[31m\u202e`, 1) + `,"status":"failed","time":"2026-11-24T08:00:00Z"}`,
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFailuresAndNewGapsAreLogged(t *testing.T) {
	gap := func(resource string) snapshot.Gap {
		return snapshot.Gap{Resource: resource, Reason: snapshot.Forbidden}
	}
	round := func(gaps ...snapshot.Gap) *controller.Round {
		return &controller.Round{Snapshot: &snapshot.Snapshot{Gaps: gaps}}
	}
	failed := &controller.Round{Err: errors.New("refused\nmore")}
	var many []snapshot.Gap
	for range cli.MaxNamedGaps + 2 {
		many = append(many, gap("jobs"))
	}
	out, got := logged("table", func(l *roundLog) {
		for _, r := range []*controller.Round{
			round(), round(), failed, failed, round(), round(gap("secrets")), round(gap("secrets")), failed, round(gap("secrets")), round(gap("pods"), gap("nodes")), round(gap("nodes")), round(many...), round(),
		} {
			l.round(r)
		}
	})
	if diff := cmp.Diff([]string{
		"warning: refused; trying again",
		"the cluster can be read again",
		"warning: could not read, and leaves alone what depends on it: secrets (forbidden)",
		"warning: refused; trying again",
		"the cluster can be read again",
		"warning: could not read, and leaves alone what depends on it: pods (forbidden), nodes (forbidden)",
		"warning: could not read, and leaves alone what depends on it: " + strings.Repeat("jobs (forbidden), ", cli.MaxNamedGaps-1) + "jobs (forbidden) and 2 more",
		"everything can be read again",
	}, got); diff != "" || len(out) > 0 {
		t.Errorf("on standard output: %q; on standard error (-want +got)\n%s", out, diff)
	}
}

func TestWhatIsLeftOutIsLoggedOnce(t *testing.T) {
	tenant := controller.LeftOut{Namespace: "tenant", Deletes: 1001}
	more, full := tenant, controller.LeftOut{Namespace: "big", Deletes: 2, BackupFull: true}
	more.Deletes = 1002
	kind := controller.LeftOut{OwnerKind: schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, Deletes: 2000}
	_, got := logged("table", func(l *roundLog) {
		for _, out := range [][]controller.LeftOut{nil, {tenant}, {more}, {full, more}, {more, kind, {Deletes: 1001}}, nil} {
			l.noteLeftOut(out)
		}
	})
	const because, hint, preview = "warning: left out, because this would delete more at once than --max-deletes allows (0): ", "; everything else is collected. To allow this, use --max-deletes ", ". Preview them: kubectl gc collect --dry-run"
	if diff := cmp.Diff([]string{
		because + "namespace tenant (1,001 objects)" + hint + "1001" + preview,
		"warning: left out, because the backups of the last day have used up the share of one namespace in --backup-max-size: namespace big; everything else is collected",
		because + "objects that lost owners of kind StatefulSet.apps (2,000 objects), objects without a namespace (1,001 objects)" + hint + "2000" + preview,
		"no longer left out: namespace big",
		"no longer left out: namespace tenant, objects that lost owners of kind StatefulSet.apps, objects without a namespace",
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
