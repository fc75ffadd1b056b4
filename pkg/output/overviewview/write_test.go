package overviewview_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/overviewview"
	"github.com/kubectl-gc/kubectl-gc/pkg/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func written(t *testing.T, mode color.Choice, leader *reason.Leader, seen ...st.Part) string {
	t.Helper()
	j := collector.NewJudge(graph.New(st.New(seen...)))
	o := audit.Filter{StuckAfter: terminating.DefaultStuckAfter}
	r, err := audit.RunWithDeletions(j, o)
	if err != nil {
		t.Fatal(err)
	}
	v := overview.New(j.Graph(), r, o)
	if leader != nil {
		v.Manager = overview.Manager(*leader, st.Taken, nil)
	}
	suggest := func(words ...string) string { return "kubectl gc " + strings.Join(words, " ") }
	var out bytes.Buffer
	if err := overviewview.Write(&out, v, "prod (https://10.0.0.5:6443, v1.37.2)", suggest, color.New(mode, false, false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWrite(t *testing.T) {
	runs := &reason.Leader{Exists: true, Holder: "a", Renewed: st.Taken.Add(-2 * time.Second)}
	old, web := st.Deployment("ns/old"), st.Deployment("ns/web")
	absent := st.Absent("apps/v1", "Deployment", "ns/old")
	hold := func(path string, age time.Duration) object.Object {
		return st.ConfigMap(path, st.TerminatingFor(age, "example.com/hold"))
	}
	var many, causes []object.Object
	gone := []st.Part{absent}
	for i := range 60 {
		many = append(many, st.ConfigMap(fmt.Sprintf("big/c-%02d", i), st.OwnedBy(old)))
	}
	for i := range 17 {
		path := fmt.Sprintf("ns/old-%02d", i)
		causes = append(causes, st.ConfigMap(fmt.Sprintf("ns/c-%02d", i), st.OwnedBy(st.Deployment(path))))
		gone = append(gone, st.Absent("apps/v1", "Deployment", path))
	}
	for name, c := range map[string]struct {
		leader *reason.Leader
		seen   []st.Part
		want   string
	}{
		"a healthy cluster has at most five lines": {
			runs,
			[]st.Part{st.Listing(web, st.ConfigMap("ns/a", st.OwnedBy(web)), st.Pod("ns/b", st.TerminatingFor(time.Minute), st.InGracePeriodUntil(time.Minute)))},
			`prod (https://10.0.0.5:6443, v1.37.2)   3 objects, 1 owner reference
Nothing to delete, nothing stuck, no broken owner reference. Complete scan.
Deletions in progress: 1, the oldest for 0s. See what they wait for: kubectl gc stuck
The controller manager renewed its lease 2s ago. Check it: kubectl gc doctor
What goes if you delete something: kubectl gc delete TYPE/NAME --dry-run
`,
		},
		"every section, and what a working collector would have done": {
			runs,
			[]st.Part{st.Listing(append(many, web, st.Pod("big/p", st.OwnedBy(many[0])), st.ConfigMap("shop/x", st.OwnedBy(old)), st.ConfigMap("ns/both", st.OwnedBy(old, web)), st.ConfigMap("ns/beta", st.Owned(st.To(web, st.As("apps/v1beta1", "Deployment")))),
				hold("ns/a", time.Hour), hold("ns/b", 2*time.Hour), hold("ns/young", time.Minute), hold("ns/younger", time.Minute), st.Namespace("legacy", st.TerminatingFor(3*time.Hour, "other.example.com/x")),
			)...), absent, st.Absent("apps/v1", "Deployment", "big/old"), st.Absent("apps/v1", "Deployment", "shop/old")},
			`prod (https://10.0.0.5:6443, v1.37.2)   70 objects, 65 owner references

WILL BE DELETED by the garbage collector: 61 objects, then 1 dependent
  61 objects in big (60), shop (1): Deployment/old does not exist
      kubectl gc audit --rule missing-owner -o wide

BEING DELETED, but held
  Namespace/legacy for 3h: held by other.example.com/x
      kubectl gc why namespace/legacy
  4 objects in ns, the oldest for 120m: held by example.com/hold
      kubectl gc stuck -n ns

NEVER COLLECTED, as their owner references cannot work
  ConfigMap/beta in ns: apps/v1beta1 Deployment/web: version not served (served: apps/v1)
      kubectl gc repair configmap/beta -n ns --dry-run

KEPT, with a broken owner reference
  ConfigMap/both in ns: Deployment/old does not exist (loses this reference)
      kubectl gc repair configmap/both -n ns --dry-run

The controller manager renewed its lease 2s ago.
A working garbage collector deletes these within seconds. If they stay: kubectl gc doctor
`,
		},
		"five causes are shown, and the others are counted": {
			nil, append(gone, st.Listing(causes...)),
			`prod (https://10.0.0.5:6443, v1.37.2)   17 objects, 17 owner references

WILL BE DELETED by the garbage collector: 17 objects
  ConfigMap/c-00 in ns: Deployment/old-00 does not exist
      kubectl gc why configmap/c-00 -n ns
  ConfigMap/c-01 in ns: Deployment/old-01 does not exist
      kubectl gc why configmap/c-01 -n ns
  ConfigMap/c-02 in ns: Deployment/old-02 does not exist
      kubectl gc why configmap/c-02 -n ns
  ConfigMap/c-03 in ns: Deployment/old-03 does not exist
      kubectl gc why configmap/c-03 -n ns
  ConfigMap/c-04 in ns: Deployment/old-04 does not exist
      kubectl gc why configmap/c-04 -n ns
  + 12 more: kubectl gc audit
`,
		},
		"what could not be read": {
			nil,
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.OwnedBy(old))), st.Unreadable("deployments.apps", snapshot.Forbidden)},
			`prod (https://10.0.0.5:6443, v1.37.2)   1 object, 1 owner reference

NOT READ
  Could not read 1 of 11 types: deployments.apps (forbidden). Objects that they own were not checked.
  The owner of 1 object could not be verified
      kubectl gc audit --rule unverified-owner

In what was read: nothing to delete, nothing stuck, no broken owner reference.
`,
		},
		"text from the cluster is escaped": {
			nil,
			[]st.Part{st.Listing(st.ConfigMap("ns/a\x1b[31m", st.OwnedBy(old))), absent},
			`prod (https://10.0.0.5:6443, v1.37.2)   1 object, 1 owner reference

WILL BE DELETED by the garbage collector: 1 object
  ConfigMap/a\x1b[31m in ns: Deployment/old does not exist
      kubectl gc why configmap/a` + "\x1b[31m" + ` -n ns
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, written(t, color.Never, c.leader, c.seen...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestColorsOnlyUnderline(t *testing.T) {
	seen := st.Listing(st.ConfigMap("ns/a", st.OwnedBy(st.Deployment("ns/old"))), st.ConfigMap("ns/b", st.TerminatingFor(time.Hour, "example.com/hold")))
	plain, colored := written(t, color.Never, nil, seen), written(t, color.Always, nil, seen)
	if colored == plain || !strings.Contains(colored, "\x1b[31mWILL BE DELETED\x1b[0m by") {
		t.Errorf("got %q", colored)
	}
	for _, sequence := range []string{"\x1b[0m", "\x1b[22m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"} {
		colored = strings.ReplaceAll(colored, sequence, "")
	}
	if diff := cmp.Diff(plain, colored); diff != "" {
		t.Errorf("(-plain +colored)\n%s", diff)
	}
}
