package cluster

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func group(name, preferred string, versions ...string) *metav1.APIGroup {
	g := &metav1.APIGroup{Name: name, PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + preferred, Version: preferred}}
	for _, v := range versions {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + v, Version: v})
	}
	return g
}

func served(groupVersion string, resources ...string) *metav1.APIResourceList {
	l := &metav1.APIResourceList{GroupVersion: groupVersion}
	for _, r := range resources {
		l.APIResources = append(l.APIResources, metav1.APIResource{Name: r, Kind: "K" + r})
	}
	return l
}

// TestPreferredVersions: the group's preferred version where it has the
// resource, else the first in the group's order (gc-semantics 1.1).
func TestPreferredVersions(t *testing.T) {
	types := typesOf(
		[]*metav1.APIGroup{group("g", "v1", "v2beta1", "v1", "v1beta1")},
		[]*metav1.APIResourceList{
			served("g/v2beta1", "both", "older", "newest"),
			served("g/v1", "both", "both/status"),
			served("g/v1beta1", "both", "older", "oldest"),
		},
	)
	got := map[string]string{}
	for _, ty := range types {
		if ty.Preferred {
			got[ty.Resource] += ty.Version
		}
	}
	want := map[string]string{"both": "v1", "older": "v2beta1", "newest": "v2beta1", "oldest": "v1beta1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGroupGapsNameTheAPIService(t *testing.T) {
	down := errors.New("the server is currently unable to handle the request")
	got := groupGaps(&discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
		{Group: "metrics.k8s.io", Version: "v1beta1"}: down,
		{Group: "metrics.k8s.io", Version: "v1"}:      down,
	}})
	want := []snapshot.Gap{{
		Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unreadable,
		Message: down.Error() + " (APIService v1.metrics.k8s.io); " + down.Error() + " (APIService v1beta1.metrics.k8s.io)",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
