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
	answers, err := sc.listAll(ctx, queries, false)
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
	objects := sc.objects.Objects()
	for i, o := range objects {
		if mayBeRunning(o) && (running[o.UID] || !known[""] && !known[o.Namespace]) {
			sc.own(&objects[i]).Running = true
		}
	}
	return nil
}

// runningPodQueries returns the Pod lists that succeeded, limited to running Pods.
func (sc *scanner) runningPodQueries() []client.Query {
	isOther := func(q client.Query) bool {
		return q.Type.Group != "" || q.Type.Kind != "Pod" || !slices.Contains(sc.listed, q.Listing())
	}
	queries := slices.DeleteFunc(sc.queries(nil), isOther)
	if len(queries) == 0 {
		queries = slices.DeleteFunc(sc.queries(sc.scope.Namespaces), isOther)
	}
	for i := range queries {
		queries[i].FieldSelector = runningPodSelector
	}
	return queries
}

// mayBeRunning reports whether the object is a Pod that is not terminating.
func mayBeRunning(o *object.Object) bool {
	return o.Kind == "Pod" && o.APIVersion == "v1" && !o.Terminating()
}
