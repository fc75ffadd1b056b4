package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// drawnRun is a namespace with a random graph of ownership, in which several users delete something at once.
type drawnRun struct {
	seed    uint64
	ns      string
	mu      sync.Mutex
	deletes []userDelete
}

// userDelete is a deletion that a user asked for with success. Each has a user of its own.
type userDelete struct {
	user     string
	of       types.UID // empty for a namespace and for a collection
	begun    time.Time // when it was sent
	revision int64     // of the object as it was answered; 0 if it was gone at once
	// A collection has the objects of a resource that have a label.
	resource, half string
	namespace      bool
}

// deleteAtRandom makes the graphs, and has all users delete at once.
func (t *traced) deleteAtRandom() (runs []*drawnRun) {
	t.Helper()
	var users sync.WaitGroup
	for _, seed := range graphs(t.T, 11, 12, 13) {
		run := &drawnRun{seed: seed, ns: t.namespace("random")}
		t.Logf("%s=%d: namespace %s", seedVariable, seed, run.ns)
		t.drawDeletions(run, &users)
		runs = append(runs, run)
	}
	users.Wait()
	return runs
}

func (t *traced) drawDeletions(run *drawnRun, users *sync.WaitGroup) {
	t.Helper()
	rng := rand.New(rand.NewPCG(run.seed, 0))
	var objects []object
	for n := range 24 {
		construct := []func(string, string, ...func(object)) object{configMap, widget, role}[rng.IntN(3)]
		o := construct(run.ns, fmt.Sprint("object-", n), labelled("half", fmt.Sprint(n%2)))
		owners := map[int]bool{}
		for range min(n, []int{0, 1, 1, 1, 1, 2, 2, 3}[rng.IntN(8)]) {
			owners[max(0, n-1-rng.IntN(8))] = true
		}
		for _, owner := range slices.Sorted(maps.Keys(owners)) {
			r := referenceTo(objects[owner])
			if rng.IntN(2) == 0 {
				blocking(&r)
			}
			ownedBy(r)(o)
		}
		objects = append(objects, t.create(o))
	}
	for n := range 6 {
		d := userDelete{user: fmt.Sprintf("user-%d-of-%s@example.com", n, run.ns)}
		o := objects[rng.IntN(16)]
		policy := []string{"Background", "Foreground", "Orphan"}[rng.IntN(3)]
		delay := time.Duration(rng.IntN(3000)) * time.Millisecond
		m, err := t.mapping(o)
		t.must(err)
		url := "/apis/" + m.Resource.Group
		if m.Resource.Group == "" {
			url = "/api"
		}
		url = path.Join(url, m.Resource.Version, "namespaces", run.ns, m.Resource.Resource)
		var selector string
		switch kind := rng.IntN(12); {
		case kind == 0:
			url, d.namespace, delay = "/api/v1/namespaces/"+run.ns, true, delay+time.Second
		case kind == 1:
			selector, d.resource, d.half = "half=1", m.Resource.Resource, "1"
		default:
			url, d.of = path.Join(url, o.GetName()), o.GetUID()
		}
		config := rest.CopyConfig(t.config)
		config.Impersonate = rest.ImpersonationConfig{UserName: d.user, Groups: []string{"system:masters"}}
		client, err := discovery.NewDiscoveryClientForConfig(config)
		t.must(err)
		users.Go(func() {
			time.Sleep(delay)
			d.begun = time.Now()
			request := client.RESTClient().Delete().AbsPath(url).Body([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"`+policy+`"}`)).SetHeader("Content-Type", "application/json")
			if selector != "" {
				request.Param("labelSelector", selector)
			}
			answer, err := request.Do(t.Context()).Raw()
			if err != nil { // it may be gone already
				return
			}
			var is metav1.PartialObjectMetadata
			if json.Unmarshal(answer, &is) == nil && is.Kind != "Status" {
				d.revision, _ = strconv.ParseInt(is.ResourceVersion, 10, 64)
			}
			run.mu.Lock()
			defer run.mu.Unlock()
			run.deletes = append(run.deletes, d)
		})
	}
}

// roots returns who may be named as the one who began the deletion of an object: one user, with three
// exceptions, in which no test can tell. If two asked for the deletion of one object and got the same answer,
// either may be meant. What is in a collection or in a namespace that was deleted may have gone with it, or with its
// owner just before.
//
// The collector deletes an object when the last of its owners has ceased to count, so that the user is the one
// who began the deletion of that owner. The revisions of etcd tell which one was last.
func (t *traced) roots(run *drawnRun, f *fate, seen ...*fate) map[string]bool {
	out := map[string]bool{}
	inherits := true
	for _, d := range run.deletes {
		switch {
		case d.namespace, d.resource == f.resource && d.half == f.Labels["half"]:
			out[d.user] = true
		case d.of == f.UID && (f.marked == 0 || d.revision > 0 && d.revision <= f.marked):
			out[d.user] = true
			inherits = false
		}
	}
	var last []*fate // more than one if any of them may be
	for _, r := range f.OwnerReferences {
		owner := t.fates[r.UID]
		switch {
		case owner == nil || owner.ceased() == 0:
			inherits = false // it did not go with its owners
		case len(last) == 0:
			last = append(last, owner)
		case owner.ceased() > last[0].ceased():
			last[0] = owner
		}
	}
	for _, owner := range last {
		if inherits && !slices.Contains(seen, owner) {
			maps.Copy(out, t.roots(run, owner, append(seen, f)...))
		}
	}
	return out
}

// tally counts the objects that went: those whose user is named rightly, wrongly, or not at all.
type tally struct{ right, wrong, perhaps, unknown, missing int }

// compareRoots compares what a report says of the objects in the random graphs with what was done.
func (t *traced) compareRoots(r *trace.DeletionReport, runs []*drawnRun, lacking bool) (n tally, why map[reason.Code]int) {
	t.Helper()
	why = map[reason.Code]int{}
	what := map[bool]string{false: "the whole log", true: "a log that lacks lines"}[lacking]
	type found struct {
		of *trace.Cascade
		*trace.Deletion
	}
	said := map[string]found{}
	for i := range r.Cascades {
		c := &r.Cascades[i]
		for j := range c.Deletions {
			d := &c.Deletions[j]
			said[d.Object.Namespace+" "+resourceName(d)] = found{c, d}
		}
	}
	for _, run := range runs {
		for _, f := range t.in(run.ns) {
			if !strings.HasPrefix(f.Name, "object-") {
				continue
			}
			is, named := said[run.ns+" "+f.String()]
			roots := t.roots(run, f)
			if f.gone > 0 && len(roots) == 0 {
				t.Fatalf("%s=%d: %s went, and the test does not know why: %+v", seedVariable, run.seed, f, f)
			}
			switch {
			case !named:
				if f.gone > 0 {
					n.missing++
				}
			case f.gone == 0 && f.marked == 0, is.Object.UID != "" && is.Object.UID != f.UID:
				n.wrong++
				t.Errorf("%s, %s=%d: %s is said to be deleted", what, seedVariable, run.seed, f)
			case is.of.Unexplained:
				n.unknown++
				why[is.of.Root.Code]++
			case is.Perhaps:
				n.perhaps++
			case !roots[actingAs(is.of.By)]:
				n.wrong++
				t.Errorf("%s, %s=%d: %s is said to be deleted by %s (%s), it was %v", what, seedVariable, run.seed, f, actingAs(is.of.By), is.Why.Message(), slices.Collect(maps.Keys(roots)))
			default:
				n.right++
			}
		}
	}
	return n, why
}

// requireRoots compares who is said to have begun the deletions in the random graphs, also if a tenth of the log is
// missing.
func (t *traced) requireRoots(runs []*drawnRun) {
	t.Helper()
	whole := t.evidence(t.log)
	n, why := t.compareRoots(whole.explain(), runs, false)
	t.Logf("%d graphs: %+v, unknown: %v", len(runs), n, why)
	delete(why, reason.LastOwnerUnknown(nil).Code)
	delete(why, reason.MayHaveAsked(nil).Code)
	if n.missing > 0 || len(why) > 0 || n.right < 5*len(runs) {
		t.Errorf("%d right, %d are missing in the report, unknown: %v", n.right, n.missing, why)
	}
	var sum tally
	rng := rand.New(rand.NewPCG(runs[0].seed, 1))
	const rounds = 50
	for range rounds {
		part := &evidence{Lines: whole.Lines, Sources: whole.Sources}
		for _, r := range whole.Requests {
			if rng.IntN(10) > 0 {
				part.Requests = append(part.Requests, r)
			}
		}
		n, _ := t.compareRoots(part.explain(), runs, true)
		sum = tally{sum.right + n.right, sum.wrong + n.wrong, sum.perhaps + n.perhaps, sum.unknown + n.unknown, sum.missing + n.missing}
	}
	t.Logf("%d times without a tenth of the lines: %+v", rounds, sum)
	removed := 0
	for i, r := range whole.Requests {
		if slices.ContainsFunc(runs, func(run *drawnRun) bool { return r.Target.Namespace == run.ns }) {
			removed++
			part := &evidence{Lines: whole.Lines, Sources: whole.Sources, Requests: slices.Delete(slices.Clone(whole.Requests), i, i+1)}
			t.compareRoots(part.explain(), runs, true)
		}
	}
	t.Logf("each of %d lines removed in turn", removed)
}

// requireCollected compares what the log of kube-controller-manager tells alone with what the collector deleted.
func (t *traced) requireCollected(what string, r *trace.DeletionReport, collected map[types.UID]string, whys bool) {
	t.Helper()
	codes, missing := map[reason.Code]int{}, maps.Clone(collected)
	for i := range r.Cascades {
		c := &r.Cascades[i]
		nobody := c.Root.Code == reason.OwnersAbsent(nil).Code
		another := c.By.Role != trace.RoleCollector && c.By.Role != trace.RoleNone // controller
		if c.By.User != "" || c.Unexplained == nobody && !another {
			t.Errorf("%s: a cascade by %+v, unexplained: %v, %s", what, c.By, c.Unexplained, c.Root.Message())
		}
		for j := range c.Deletions {
			d := &c.Deletions[j]
			f := t.fates[d.Object.UID]
			switch {
			case f == nil: // an owner that never was
			case f.gone == 0 && f.marked == 0:
				t.Errorf("%s: %s in %s is said to be deleted: %s", what, resourceName(d), d.Object.Namespace, d.Why.Message())
			}
			if missing[d.Object.UID] == "" {
				continue
			}
			delete(missing, d.Object.UID)
			codes[d.Why.Code]++
			if d.By.Role != trace.RoleCollector || whys && d.Why.Code == reason.OwnersNotInEvidence.Code {
				t.Errorf("%s: %s in %s: by %q, %s", what, resourceName(d), d.Object.Namespace, d.By.Role, d.Why.Message())
			}
		}
	}
	t.Logf("%s: %d collected, why: %v", what, len(collected), codes)
	if len(missing) > 0 {
		t.Errorf("%s: not in the report are %v", what, slices.Sorted(maps.Values(missing)))
	}
}

// collected returns what the collector deleted, by the audit log.
func (t *traced) collected() map[types.UID]string {
	t.Helper()
	out := map[types.UID]string{}
	for _, r := range t.evidence(t.log).Requests {
		if uid := r.Target.UID; r.Verb == "delete" && r.User.Name == collectorAccount && uid != "" {
			if f := t.fates[uid]; f != nil && (f.gone > 0 || f.marked > 0) {
				out[uid] = f.Namespace + " " + f.String()
			}
		}
	}
	return out
}
