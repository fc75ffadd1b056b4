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
func (sc *scanner) markRunning(ctx context.Context) error {
	if !sc.scope.Running || !slices.ContainsFunc(sc.objects.Objects(), mayBeRunning) {
		return nil
	}
	queries := sc.runningPodQueries()
	answers, err := client.InParallel(ctx, sc.client.Options.Concurrency, queries, func(q client.Query) client.ListResult { return sc.client.List(ctx, q, false) })
	if err != nil {
		return err
	}
	running, known := map[types.UID]bool{}, map[string]bool{}
	for i, a := range answers {
		known[queries[i].Namespace] = a.Err == nil
		for _, o := range a.Objects {
			running[o.UID] = true
		}
	}
	for _, o := range sc.objects.Objects() {
		if mayBeRunning(o) {
			o.Running = running[o.UID] || !known[""] && !known[o.Namespace]
		}
	}
	return nil
}

// runningPodQueries returns the Pod lists that succeeded, limited to running Pods.
func (sc *scanner) runningPodQueries() []client.Query {
	var queries []client.Query
	for _, t := range sc.discovery.Types {
		if t.Group != "" || t.Kind != "Pod" || !t.Monitored() {
			continue
		}
		everywhere := client.Query{Type: t, FieldSelector: runningPodSelector}
		if slices.Contains(sc.listed, everywhere.Listing()) {
			return []client.Query{everywhere}
		}
		for _, ns := range sc.scope.Namespaces {
			if q := (client.Query{Type: t, Namespace: ns, FieldSelector: runningPodSelector}); slices.Contains(sc.listed, q.Listing()) {
				queries = append(queries, q)
			}
		}
	}
	return queries
}

// mayBeRunning reports whether the object is a Pod that is not terminating.
func mayBeRunning(o *object.Object) bool {
	return o.Kind == "Pod" && o.APIVersion == "v1" && !o.Terminating()
}
