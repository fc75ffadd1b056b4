package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// runningPods selects the Pods that do not go at once when they are deleted
// (docs/gc-semantics.md#graceful-pods).
const runningPods = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// markRunning asks once, where Pods were listed, which of them a kubelet has to
// stop. Metadata does not tell, so the server selects.
func (l *scan) markRunning(ctx context.Context) error {
	if !l.scope.Running || !slices.ContainsFunc(l.seen.Objects(), mayRun) {
		return nil
	}
	jobs := l.podLists()
	answers, err := inParallel(ctx, l.options.Concurrency, jobs, func(j job) answer { return l.Cluster.list(ctx, j, false) })
	if err != nil {
		return err
	}
	running, told := map[types.UID]bool{}, map[string]bool{}
	for i, a := range answers {
		told[jobs[i].namespace] = a.err == nil
		for _, o := range a.objects {
			running[o.UID] = true
		}
	}
	for _, o := range l.seen.Objects() {
		if mayRun(o) {
			o.Running = running[o.UID] || !told[""] && !told[o.Namespace]
		}
	}
	return nil
}

// podLists are the lists of Pods that succeeded, with the selection.
func (l *scan) podLists() []job {
	var jobs []job
	for _, t := range l.world.Types {
		if t.Group != "" || t.Kind != "Pod" || !t.Monitored() {
			continue
		}
		everywhere := job{of: t, fields: runningPods}
		if slices.Contains(l.listed, everywhere.listing()) {
			return []job{everywhere}
		}
		for _, ns := range l.scope.Namespaces {
			if j := (job{of: t, namespace: ns, fields: runningPods}); slices.Contains(l.listed, j.listing()) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// mayRun says whether the object is a Pod that is not terminating yet.
func mayRun(o *object.Object) bool {
	return o.Kind == "Pod" && o.APIVersion == "v1" && !o.Terminating()
}
