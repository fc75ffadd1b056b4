package overview_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func of(t *testing.T, seen ...st.Part) *overview.Overview {
	t.Helper()
	j := collector.NewJudge(graph.New(st.New(seen...)))
	o := audit.Filter{StuckAfter: terminating.DefaultStuckAfter}
	r, err := audit.RunWithDeletions(j, o)
	if err != nil {
		t.Fatal(err)
	}
	return overview.New(j.Graph(), r, o)
}

func createdBefore(age time.Duration) st.Option {
	return func(o *object.Object) { o.Created = st.Taken.Add(-age) }
}

func TestNew(t *testing.T) {
	old, web, foreign := st.Deployment("ns/old"), st.Deployment("ns/web"), st.Deployment("far/web")
	absent := st.Absent("apps/v1", "Deployment", "ns/old")
	hold := func(path string, age time.Duration) object.Object {
		return st.ConfigMap(path, st.TerminatingFor(age, "example.com/hold"))
	}
	many := make([]object.Object, 60)
	for i := range many {
		many[i] = st.ConfigMap(fmt.Sprintf("ns/c-%02d", i), st.OwnedBy(old), createdBefore(time.Hour))
	}
	for name, c := range map[string]struct {
		seen []st.Part
		want []string
	}{
		"a healthy cluster": {[]st.Part{st.Listing(web, st.ConfigMap("ns/a", st.OwnedBy(web)))}, []string{"healthy"}},
		"60 objects of one absent owner are one group": {
			[]st.Part{st.Listing(many...), absent},
			[]string{"deleted 60 missing-owner: audit --rule missing-owner -o wide -n ns", "overdue 60"},
		},
		"one object is explained": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old))), absent},
			[]string{"deleted 1 missing-owner: why configmap/a -n ns", "overdue 1"},
		},
		"what was created just now is not overdue": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old), createdBefore(time.Second))), absent},
			[]string{"deleted 1 missing-owner: why configmap/a -n ns"},
		},
		"an owner in another namespace may escape a working collector": {
			[]st.Part{st.Listing(foreign, st.ConfigMap("ns/a", st.OwnedBy(foreign), createdBefore(time.Hour)))},
			[]string{"deleted 1 cross-namespace-owner: why configmap/a -n ns"},
		},
		"several namespaces have no flag in common": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old)), st.ConfigMap("ns2/a", st.OwnedBy(old))), absent, st.Absent("apps/v1", "Deployment", "ns2/old")},
			[]string{"deleted 2 missing-owner: audit --rule missing-owner -o wide", "overdue 2"},
		},
		"a reference that is removed is broken, and is repaired": {
			[]st.Part{st.Listing(web, st.ConfigMap("ns/a", st.OwnedBy(old, web))), absent},
			[]string{"broken 1 missing-owner: repair configmap/a -n ns --dry-run"},
		},
		"several are repaired by rule": {
			[]st.Part{st.Listing(web, st.ConfigMap("ns/a", st.OwnedBy(old, web)), st.ConfigMap("ns/b", st.OwnedBy(old, web))), absent},
			[]string{"broken 2 missing-owner: repair --rule missing-owner --dry-run -n ns"},
		},
		"a cycle, which has no repair, is explained": {
			[]st.Part{st.Cycle(2)}, []string{"broken 1 owner-cycle: why configmap/o0000000 -n ns"},
		},
		"deletions that one finalizer holds, the oldest first, and a younger one": {
			[]st.Part{st.Listing(hold("ns/a", time.Hour), hold("ns/b", 2*time.Hour), hold("ns/c", time.Minute), st.Secret("ns/d", st.TerminatingFor(time.Hour, "other.example.com/x")))},
			[]string{"stuck 2 ConfigMap/b finalizer: stuck -n ns", "stuck 1 Secret/d finalizer: why secret/d -n ns", "held 3 ConfigMap/b finalizer: stuck -n ns", "held 1 Secret/d finalizer: why secret/d -n ns", "younger 1"},
		},
		"a finalizer of its own controller holds from the first second": {
			[]st.Part{st.Listing(hold("ns/a", time.Second), hold("ns/b", 2*time.Second))}, []string{"held 2 ConfigMap/b finalizer: stuck -n ns", "younger 2"},
		},
		"what Kubernetes deletes in its normal course holds nothing": {
			[]st.Part{st.Listing(
				st.Pod("ns/stops", st.TerminatingFor(time.Second), st.InGracePeriodUntil(time.Minute)), st.Object("v1", "PersistentVolumeClaim", "ns/free", st.TerminatingFor(time.Second, simulate.ClaimProtection)),
				st.ConfigMap("ns/a", st.TerminatingFor(time.Second)),
			)},
			[]string{"younger 3", "healthy"},
		},
		"a Pod is not stuck within a grace period of an hour": {
			[]st.Part{st.Listing(st.Pod("ns/drains", st.Running(), st.InGracePeriodUntil(40*time.Minute), func(o *object.Object) { o.GraceSeconds = new(int64(3600)) }))},
			[]string{"younger 1", "healthy"},
		},
		"what Kubernetes does not finish within half a minute is held": {
			[]st.Part{st.Listing(st.Object("v1", "PersistentVolumeClaim", "ns/claim", st.TerminatingFor(time.Minute, simulate.ClaimProtection)))},
			[]string{"held 1 PersistentVolumeClaim/claim finalizer: why persistentvolumeclaim/claim -n ns", "younger 1"},
		},
		"what nothing holds is not one cause": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.TerminatingFor(time.Hour)), st.ConfigMap("ns/b", st.TerminatingFor(time.Hour)))},
			[]string{"stuck 1 ConfigMap/a nothing: why configmap/a -n ns", "stuck 1 ConfigMap/b nothing: why configmap/b -n ns", "held 1 ConfigMap/a nothing: why configmap/a -n ns", "held 1 ConfigMap/b nothing: why configmap/b -n ns"},
		},
		"what could not be verified is counted": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old))), st.Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{"unverified 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, facts(of(t, c.seen...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// facts returns what an overview shows, as lines.
func facts(v *overview.Overview) (out []string) {
	for _, section := range []struct {
		name   string
		groups []overview.CauseGroup
	}{{"deleted", v.WillBeDeleted}, {"broken", v.Broken}} {
		for _, g := range section.groups {
			out = append(out, fmt.Sprintf("%s %d %s: %s", section.name, len(g.Objects), g.Findings[0].Rule, strings.Join(g.Command, " ")))
		}
	}
	for _, section := range []struct {
		name      string
		deletions []overview.Stuck
	}{{"stuck", v.Stuck}, {"held", v.BeingDeleted}} {
		for _, held := range section.deletions {
			out = append(out, fmt.Sprintf("%s %d %s %s: %s", section.name, held.Count, held.Object, held.Holder, strings.Join(held.Command, " ")))
		}
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"younger", v.Younger}, {"unverified", v.Unverified}, {"overdue", v.Overdue}} {
		if count.n > 0 {
			out = append(out, fmt.Sprint(count.name, " ", count.n))
		}
	}
	if v.Healthy() {
		out = append(out, "healthy")
	}
	return out
}

func TestManager(t *testing.T) {
	at := st.Taken
	for name, c := range map[string]struct {
		leader reason.Leader
		err    error
		want   reason.Code
	}{
		"it has renewed its lease":          {reason.Leader{Exists: true, Holder: "a", Renewed: at.Add(-2 * time.Second)}, nil, "ManagerRuns"},
		"its clock is ahead":                {reason.Leader{Exists: true, Holder: "a", Renewed: at.Add(time.Hour)}, nil, "ManagerRuns"},
		"it has not for an hour":            {reason.Leader{Exists: true, Holder: "a", Renewed: at.Add(-time.Hour)}, nil, "ManagerSilent"},
		"nothing holds the lease":           {reason.Leader{Exists: true}, nil, "LeaseNotHeld"},
		"it was released a moment ago":      {reason.Leader{Exists: true, Renewed: at.Add(-2 * time.Second)}, nil, "LeaseReleased"},
		"it was released an hour ago":       {reason.Leader{Exists: true, Renewed: at.Add(-time.Hour)}, nil, "LeaseNotHeld"},
		"there is none":                     {reason.Leader{}, nil, "NoLease"},
		"a lease that cannot be read":       {reason.Leader{}, errors.New("forbidden"), "ManagerUnknown"},
		"a lease that was never renewed":    {reason.Leader{Exists: true, Holder: "a"}, nil, "ManagerSilent"},
		"a renewal that is a minute old":    {reason.Leader{Exists: true, Holder: "a", Renewed: at.Add(-time.Minute)}, nil, "ManagerRuns"},
		"a renewal that is older than that": {reason.Leader{Exists: true, Holder: "a", Renewed: at.Add(-61 * time.Second)}, nil, "ManagerSilent"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := overview.Manager(c.leader, at, c.err).Code; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestADocumentHasEmptyListsAndNamesTheFirstObjects(t *testing.T) {
	old := st.Deployment("ns/old")
	v := of(t, st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old)), st.ConfigMap("ns/b", st.OwnedBy(old)), st.ConfigMap("ns/c", st.OwnedBy(old)), st.ConfigMap("ns/d", st.OwnedBy(old))), st.Absent("apps/v1", "Deployment", "ns/old"))
	v.EditCommands(func(words []string) []string { return append([]string{"kubectl", "gc"}, words...) })
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		WillBeDeleted []struct {
			Count   int
			Objects []object.Identity
			Command []string
		}
		Stuck, Broken []any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Stuck == nil || got.Broken == nil || len(v.Objects()) != 4 {
		t.Errorf("got %s", text)
	}
	if g := got.WillBeDeleted[0]; g.Count != 4 || len(g.Objects) != 3 || g.Command[0] != "kubectl" {
		t.Errorf("got %+v", g)
	}
}
