package repair

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Manifest is an object that does not exist yet, with the references that somebody is about to
// create it with.
type Manifest struct {
	Namespace string // empty for a cluster-scoped object
	Owners    []object.Reference
}

// ManifestRepairs is how each reference of a Manifest is repaired, with the judgement of it as it is.
type ManifestRepairs struct {
	Judgements []collector.Judgement
	Repairs    []Repair
}

// ForManifests decides how to repair the references of objects that do not exist yet, so that the
// garbage collector does not delete them as soon as they do. The snapshot should have looked up
// their owners.
func ForManifests(seen *snapshot.Snapshot, manifests []Manifest) []ManifestRepairs {
	with := *seen
	with.Objects = slices.Clone(seen.Objects)
	uid := func(i int) types.UID { return types.UID("manifest " + strconv.Itoa(i)) } // no UID of a server has a space
	for i, m := range manifests {
		// No reference leads to an object of this kind.
		with.Objects = append(with.Objects, &object.Object{
			Identity: object.Identity{APIVersion: "manifest", Kind: "Manifest", Namespace: m.Namespace, Name: string(uid(i)), UID: uid(i)},
			Owners:   m.Owners,
		})
	}
	with.Normalize()
	judge := collector.NewJudge(graph.New(&with))
	planner := New(judge)
	out := make([]ManifestRepairs, len(manifests))
	for i := range manifests {
		n := judge.Graph().Find(uid(i))
		out[i] = ManifestRepairs{judge.Object(n), planner.Object(n)}
	}
	return out
}
