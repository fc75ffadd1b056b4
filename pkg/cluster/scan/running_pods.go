package scan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// runningPodSelector selects Pods that are not deleted at once
// (docs/gc-semantics.md#graceful-pods).
const runningPodSelector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// markRunning marks the Pods that a kubelet has to stop. Metadata does not show that, so the
// server selects them.
func (l *scanner) markRunning(ctx context.Context) error {
	if !l.scope.Running || !slices.ContainsFunc(l.objects.Objects(), mayBeRunning) {
		return nil
	}
	jobs := l.runningPodQueries()
	answers, err := client.InParallel(ctx, l.client.Options.Concurrency, jobs, func(j client.Query) client.ListResult { return l.client.List(ctx, j, false) })
	if err != nil {
		return err
	}
	running, told := map[types.UID]bool{}, map[string]bool{}
	for i, a := range answers {
		told[jobs[i].Namespace] = a.Err == nil
		for _, o := range a.Objects {
			running[o.UID] = true
		}
	}
	for _, o := range l.objects.Objects() {
		if mayBeRunning(o) {
			o.Running = running[o.UID] || !told[""] && !told[o.Namespace]
		}
	}
	return nil
}

// runningPodQueries returns the Pod lists that succeeded, limited to running Pods.
func (l *scanner) runningPodQueries() []client.Query {
	var jobs []client.Query
	for _, t := range l.discovery.Types {
		if t.Group != "" || t.Kind != "Pod" || !t.Monitored() {
			continue
		}
		everywhere := client.Query{Type: t, FieldSelector: runningPodSelector}
		if slices.Contains(l.listed, everywhere.Listing()) {
			return []client.Query{everywhere}
		}
		for _, ns := range l.scope.Namespaces {
			if j := (client.Query{Type: t, Namespace: ns, FieldSelector: runningPodSelector}); slices.Contains(l.listed, j.Listing()) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// mayBeRunning reports whether the object is a Pod that is not terminating.
func mayBeRunning(o *object.Object) bool {
	return o.Kind == "Pod" && o.APIVersion == "v1" && !o.Terminating()
}
