package simulation

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
	"github.com/kubectl-gc/kubectl-gc/test/oracle"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// fixpointOrders is how many orders of events upstream's collector is given. Where it has nothing to do,
// all end alike.
const fixpointOrders = 2

// snapshotOf returns what a server serves and stores, as a cluster for fixpoint. What is stored of types
// that are not served is left out.
func snapshotOf(s *apiserver.Server) scenario.Scenario {
	out, served := scenario.Scenario{}, s.Types()
	for _, t := range served {
		if t.GroupVersionResource == apiserver.AccessReviews.GroupVersionResource {
			continue // which nobody can list
		}
		out.Types = append(out.Types, scenario.Type{
			Group: t.Group, Version: t.Version, OtherVersions: t.OtherVersions, Resource: t.Resource, Kind: t.Kind, Namespaced: t.Namespaced, Custom: t.Custom,
		})
	}
	for _, stored := range s.Objects() {
		if !slices.Contains(served, stored.Type) {
			continue
		}
		o := scenario.Object{PartialObjectMetadata: *stored.PartialObjectMetadata.DeepCopy(), SpecFinalizers: stored.SpecFinalizers}
		o.SetGroupVersionKind(stored.Type.GroupVersion().WithKind(stored.Type.Kind))
		o.ManagedFields = nil
		if o.DeletionTimestamp != nil {
			o.SpecFinalizers = nil // else the namespace controller deletes the contents again, with another policy than that of the server
		}
		if stored.Type.GroupVersionResource == apiserver.Pods.GroupVersionResource {
			o.Pod = &scenario.Pod{GraceSeconds: stored.GraceSeconds, Scheduled: stored.Scheduled, Finished: stored.Finished}
		}
		out.Objects = append(out.Objects, o)
	}
	return out
}

// fixpoint returns what upstream's collector would still change in a cluster. It must be called outside
// of a bubble of package synctest, as ask must.
func fixpoint(ctx context.Context, ask oracle.Ask, cluster scenario.Scenario) (differences []string, err error) {
	reply, err := ask(ctx, scenario.Request{Scenario: cluster, Orders: fixpointOrders})
	if err != nil {
		return nil, err
	}
	for i := range cluster.Objects {
		o := &cluster.Objects[i]
		for _, end := range oracle.Ends(reply) {
			was, is := oracle.Describe(o), oracle.Describe(end.Object(o.UID))
			if was == is {
				continue
			}
			difference := fmt.Sprintf("%s %s (uid %s) was at rest as %s, and upstream's collector leaves it as %s", o.Kind, fullName(&o.ObjectMeta), o.UID, was, is)
			if !slices.Contains(differences, difference) {
				differences = append(differences, difference)
			}
		}
	}
	return differences, nil
}

func fullName(o *metav1.ObjectMeta) string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}
