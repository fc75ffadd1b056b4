package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	subject "github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// deletion is a set of targets with the preview of their deletion, and the objects that are
// compared afterwards.
type deletion struct {
	name       string
	targets    []object
	policy     []metav1.DeletionPropagation // one for each target, or one for all
	namespaces []string                     // whose objects are compared
	also       []object                     // are compared as well
	counts     map[string]int               // how many objects of a kind controllers create before the deletion
	stopsPods  bool                         // there are Pods that a kubelet has to stop

	plan      *plan.Plan
	predicted map[types.UID]string // the final state of every compared object
	before    map[types.UID]string
	names     map[types.UID]string
	existing  map[types.UID]bool // all objects before the deletion
}

func (d *deletion) policyOf(i int) metav1.DeletionPropagation {
	return d.policy[min(i, len(d.policy)-1)]
}

// stateOf describes the state of every object, as far as a deletion may change it, by UID. It
// omits references to owners that were created after the preview.
func stateOf(objects []*subject.Object, seen map[types.UID]bool) map[types.UID]string {
	out, fresh := map[types.UID]string{}, map[types.UID]bool{}
	for i := range objects {
		fresh[objects[i].UID] = seen != nil && !seen[objects[i].UID]
	}
	for i := range objects {
		out[objects[i].UID] = describeObject(objects[i], fresh)
	}
	return out
}

func describeObject(o *subject.Object, fresh map[types.UID]bool) string {
	if o == nil {
		return "gone"
	}
	out := "there"
	if o.Terminating() {
		out = "terminating"
	}
	if len(o.Finalizers) > 0 {
		out += ", held by " + strings.Join(slices.Sorted(slices.Values(o.Finalizers)), " ")
	}
	for _, r := range o.Owners {
		if o.Terminating() || fresh[r.UID] { // the references of a terminating object have no effect
			continue
		}
		out += fmt.Sprintf("; owned by %s/%s (%s)", r.Kind, r.Name, r.UID)
		if r.Blocks() {
			out += ", blocking"
		}
	}
	return out
}

// preview predicts the deletion from a scan of everything.
func (d *deletion) preview(s observation) {
	s.Helper()
	g := graph.New(s.seen)
	options := d.options(s, g)
	d.plan = plan.New(collector.NewJudge(g), options)
	if guarded := d.plan.VolumeNamespaces(g); len(guarded) > 0 {
		marked, err := read.MarkVolumes(s.Context(), s.cluster, s.seen, guarded)
		s.must(err)
		g = graph.New(marked)
		options = d.options(s, g)
		d.plan = plan.New(collector.NewJudge(g), options)
	}
	end := simulate.Run(collector.NewJudge(g), simulate.Cluster, options.Bounds).Model
	d.before, d.predicted, d.names, d.existing = map[types.UID]string{}, map[types.UID]string{}, map[types.UID]string{}, map[types.UID]bool{}
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		d.existing[o.UID] = true
		if !slices.Contains(d.namespaces, o.Namespace) && !slices.ContainsFunc(d.also, func(a object) bool { return a.GetUID() == o.UID }) {
			continue
		}
		d.before[o.UID], d.names[o.UID] = describeObject(o, nil), o.String()
		d.predicted[o.UID] = describeObject(end.Object(graph.Node(n)), nil)
	}
	for _, outcome := range d.plan.Outcomes { // the printed outcomes must equal those of the model
		want := map[plan.State]string{plan.Deleted: "gone", plan.Terminating: "terminating", plan.Changed: "there"}[outcome.State]
		if outcome.When == plan.Later {
			want = "" // as it is, or terminating
		}
		if got, counts := d.predicted[outcome.Object.UID]; counts && !strings.HasPrefix(got, want) {
			s.Errorf("%s: %s is to be %s, and in the model it is %s", d.name, outcome.Object, want, got)
		}
	}
}

func (d *deletion) options(s observation, g *graph.Graph) plan.Purpose {
	s.Helper()
	var deletes []simulate.DeleteRequest
	for i, t := range d.targets {
		n := g.Find(t.GetUID())
		if g.Object(n) == nil {
			s.Fatalf("%s: %s was not scanned", d.name, t.GetName())
		}
		deletes = append(deletes, simulate.DeleteRequest{Node: n, Policy: d.policyOf(i)})
	}
	return plan.DeletePurpose(simulate.Cluster, deletes...)
}

// begin sends the DELETEs. An earlier one may have deleted a later target already.
func (d *deletion) begin(s *scene) {
	s.Helper()
	for i, t := range d.targets {
		policy := d.policyOf(i)
		err := s.client(t).Delete(s.Context(), t.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy})
		if i == 0 || !apierrors.IsNotFound(err) {
			s.must(err)
		}
	}
}

// mismatches returns the objects whose state is not the predicted one.
func (d *deletion) mismatches(now map[types.UID]string) []types.UID {
	var out []types.UID
	for _, uid := range slices.Sorted(maps.Keys(d.predicted)) {
		if stateIn(now, uid) != d.predicted[uid] {
			out = append(out, uid)
		}
	}
	return out
}

// wrong returns the objects whose state is not the predicted one, although the plan does not call
// their outcome nondeterministic.
func (d *deletion) wrong(now map[types.UID]string) []types.UID {
	unsure := d.nondeterministic()
	return slices.DeleteFunc(d.mismatches(now), func(uid types.UID) bool { return unsure[uid] })
}

func stateIn(now map[types.UID]string, uid types.UID) string {
	if is, there := now[uid]; there {
		return is
	}
	return "gone"
}

// history returns everything known about an object.
func (d *deletion) history(uid types.UID, now map[types.UID]string) string {
	return fmt.Sprintf("%s (%s)\n  before:    %s\n  predicted: %s\n  real:      %s%s", d.names[uid], uid, d.before[uid], d.predicted[uid], stateIn(now, uid), d.planText(uid))
}

// planText returns what the plan says about an object.
func (d *deletion) planText(uid types.UID) string {
	out := ""
	for _, s := range d.plan.Steps {
		if s.Object.UID == uid {
			out += fmt.Sprintf("\n  step %s:   %s %s%s: %s", s.ID, s.Action, s.Transition().Policy, s.Finalizer(), s.Reason.Message())
		}
	}
	for _, s := range d.plan.Retained {
		if s.Object.UID == uid {
			out += "\n  stays:    " + s.Reason.Message()
		}
	}
	return out
}

// nondeterministic returns the objects whose outcome is nondeterministic according to the
// plan.
func (d *deletion) nondeterministic() map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, o := range d.plan.Outcomes {
		out[o.Object.UID] = o.Nondeterministic != nil
	}
	return out
}

// quietPeriod is the time without changes after which the cluster counts as settled. It is
// longer than the interval at which the API server checks whether a
// CustomResourceDefinition is empty.
const quietPeriod = 7 * time.Second

// awaitPredicted waits until every object has its predicted state, or the cluster is idle: the
// collector has processed a sentinel, and nothing has changed since.
func awaitPredicted(s *scene, sentinels string, all []*deletion) map[types.UID]string {
	s.Helper()
	now := func() map[types.UID]string { return stateOf(s.scan(scan.Scope{}).seen.Objects, all[0].existing) }
	var last map[types.UID]string
	changed := time.Now()
	_ = wait.PollUntilContextTimeout(s.Context(), 250*time.Millisecond, 2*waitTimeout, true, func(context.Context) (bool, error) {
		for _, d := range all {
			if d.stopsPods {
				s.stopPods(d.namespaces)
			}
		}
		next := now()
		if !maps.Equal(last, next) {
			last, changed = next, time.Now()
		}
		wrong := slices.ContainsFunc(all, func(d *deletion) bool { return len(d.wrong(last)) > 0 })
		return !wrong || time.Since(changed) > quietPeriod, nil
	}) // reportDeletions reports the objects that differ
	for range 3 {
		s.awaitSentinel(sentinels)
	}
	return now()
}

// stopPods acts as the kubelets: it removes terminating Pods.
func (s *scene) stopPods(spaces []string) {
	s.Helper()
	for _, ns := range spaces {
		pods, err := s.client(pod(ns, "")).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		now := int64(0)
		for i := range pods.Items {
			if p := &pods.Items[i]; p.GetDeletionTimestamp() != nil && p.GetDeletionGracePeriodSeconds() != nil && *p.GetDeletionGracePeriodSeconds() > 0 {
				_ = s.client(pod(ns, "")).Delete(s.Context(), p.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now}) // fails if the Pod is gone already
			}
		}
	}
}

// awaitControllers waits until controllers have created their objects and stopped changing them.
func awaitControllers(s *scene, all []*deletion) {
	s.Helper()
	var last map[types.UID]string
	quiet := 0
	s.await("controllers to have made everything", func(context.Context) (bool, error) {
		seen := s.scan(scan.Scope{}).seen.Objects
		count := map[string]int{}
		for _, o := range seen {
			count[o.Namespace+" "+o.Kind]++
		}
		for _, d := range all {
			for kind, n := range d.counts {
				if count[d.namespaces[0]+" "+kind] < n {
					quiet = 0
					return false, nil
				}
			}
		}
		now := stateOf(seen, nil)
		if quiet++; !maps.Equal(last, now) {
			quiet = 0
		}
		last = now
		return quiet >= 4, nil
	})
}

// reportDeletions reports the result of each deletion as a subtest.
func reportDeletions(t *testing.T, all []*deletion, now map[types.UID]string) {
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			for _, uid := range d.wrong(now) {
				t.Error(d.history(uid, now))
			}
			if gone := countOf(d.predicted, "gone"); gone == 0 && countOf(d.predicted, "terminating") == 0 {
				t.Error("nothing is deleted")
			}
		})
	}
}

func countOf(states map[types.UID]string, prefix string) (n int) {
	for _, s := range states {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}
