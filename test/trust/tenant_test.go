package trust

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Names of RBAC objects may hold any text but "/" and "%".
func TestOneNameLeavesItsTypeReadable(t *testing.T) {
	t.Parallel()
	roles := apiserver.Namespaced("rbac.authorization.k8s.io", "roles", "Role")
	s := NewServer(t)
	s.Serve(roles)
	s.Add(roles.Object("shop", "\uFFFD"))
	s.Add(roles.Object("shop", "\xff"))
	owner := s.Add(orphaning(Deployments.Object("shop", "web")))

	u := newUser(t, s)
	if d := u.runs("audit", "--strict", "-o", "json").exits(0).read(); !d.Complete {
		t.Errorf("gaps %v", d.Gaps)
	}
	u.runs("collect", "--yes").exits(0)
	if now := s.Now(owner); now != nil {
		t.Errorf("%s is still there, with finalizers %v", now.Name, now.Finalizers)
	}
}

// The owner of such a reference cannot be read. That is a finding about the object, and conceals
// nothing about others.
func TestOneReferenceLeavesTheScanComplete(t *testing.T) {
	t.Parallel()
	for name, owner := range map[string]metav1.OwnerReference{
		"to a type without get": {APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview", Name: "x", UID: "u"},
		"with a name of 1.1 MB": {APIVersion: "v1", Kind: "ConfigMap", Name: strings.Repeat("x", 1_100_000), UID: "u"},
		"with a name of dots":   {APIVersion: "v1", Kind: "ConfigMap", Name: "..", UID: "u"},
		"with a path as a name": {APIVersion: "v1", Kind: "ConfigMap", Name: "a/b", UID: "u"},
		"with a percent sign":   {APIVersion: "v1", Kind: "ConfigMap", Name: "%2e", UID: "u"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			kept := s.Add(ownedBy(Secrets.Object("shop", "odd"), owner))
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))

			u := newUser(t, s)
			r := u.runs("audit", "--strict", "--fail-on=never", "-o", "json").exits(0)
			if !r.read().Complete || !strings.Contains(r.stdout, `"unverified-owner"`) {
				t.Errorf("complete: %v, %s", r.read().Complete, short(r.stdout))
			}
			u.runs("collect", "--yes").exits(0)
			requireKept(t, s, kept)
			requireGone(t, s, garbage)
		})
	}
}

// manyReferences returns references to ConfigMaps that do not exist.
func manyReferences(n int, prefix string) []metav1.OwnerReference {
	out := make([]metav1.OwnerReference, n)
	for i := range out {
		out[i] = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint(prefix, i), UID: types.UID(fmt.Sprintf("%s-0000-4000-8000-%012d", prefix, i))}
	}
	return out
}

// Owners past the first 100 are unknown, so the object stays, and the scan is complete.
func TestOneObjectCostsFewRequests(t *testing.T) {
	t.Parallel()
	const owners, most = 8_000, 100
	s := NewServer(t)
	greedy := s.Add(ownedBy(Secrets.Object("shop", "greedy"), manyReferences(owners, "aaaaaaaa")...))
	held := terminating(ownedBy(Secrets.Object("shop", "held"), manyReferences(owners, "bbbbbbbb")...))
	held.Finalizers = []string{"example.com/held"}
	held = s.Add(held)
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))

	u := newUser(t, s)
	if d := u.runs("audit", "--strict", "--fail-on=never", "-o", "json").exits(0).read(); !d.Complete {
		t.Errorf("gaps %v", d.Gaps)
	}
	asked := slices.DeleteFunc(s.Requests(), func(r apiserver.Request) bool {
		return r.Method != http.MethodGet || !strings.Contains(r.Path, "/configmaps/")
	})
	if len(asked) > 2*most {
		t.Errorf("%d owners were requested, at most %d are expected", len(asked), 2*most)
	}
	u.runs("collect", "--yes").exits(1) // greedy remains blocked, as it may have lost only some of its owners
	requireKept(t, s, greedy, held)
	requireGone(t, s, garbage)
}

// Only lookups are limited: a reference past the first 100 keeps its owner waiting, and its dependent alive.
func TestReferencesCountWhereverTheyStand(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	block := true
	waiting := terminating(ConfigMaps.Object("shop", "waiting"))
	waiting.Finalizers = []string{metav1.FinalizerDeleteDependents}
	waiting, alive := s.Add(waiting), s.Add(ConfigMaps.Object("shop", "alive"))
	to := func(o *Object) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.Name, UID: o.UID, BlockOwnerDeletion: &block}
	}
	blocking := s.Add(ownedBy(Secrets.Object("shop", "blocking"), append(manyReferences(150, "aaaaaaaa"), to(waiting))...))
	owned := s.Add(ownedBy(Secrets.Object("shop", "owned"), append(manyReferences(100, "bbbbbbbb"), to(alive))...))
	either := s.Add(ownedBy(Secrets.Object("shop", "either"), append(manyReferences(150, "cccccccc"), to(alive))...))
	newUser(t, s).runs("collect", "--yes").exits(1)
	requireKept(t, s, waiting, alive, blocking, owned, either)
	if t.Failed() {
		return
	}
	if now := s.Now(waiting); !slices.Contains(now.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("the owner was released while a dependent blocks it: %v", now.Finalizers)
	}
	if n := len(s.Now(owned).OwnerReferences); n != 1 {
		t.Errorf("the object with a living owner has %d references, want only that one", n)
	}
	if n := len(s.Now(either).OwnerReferences); n != 151 {
		t.Errorf("the object with unknown owners has %d references, want all 151", n)
	}
}

// What the objects of one namespace may cost in requests is limited, and does not count against those of another.
func TestOneNamespaceCostsFewRequests(t *testing.T) {
	t.Parallel()
	const most = 5_000
	s := NewServer(t)
	s.Add(Namespaces.Object("", "tenant"))
	solid := s.Add(ConfigMaps.Object("tenant", "solid"))
	for i := range 60 {
		s.Add(ownedBy(ConfigMaps.Object("tenant", fmt.Sprint("greedy-", i)), append([]metav1.OwnerReference{referenceTo(solid)}, manyReferences(99, fmt.Sprintf("%08x", i))...)...))
	}
	others := []*Object{
		s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments))),
		s.Add(ownedBy(ConfigMaps.Object("shop", "of-a-namespace"), missingOwner(Namespaces))),
	}
	u := newUser(t, s)
	u.runs("audit", "--strict", "--fail-on", "never").exits(0)
	if n := len(s.Requests()); n > most+200 {
		t.Errorf("%d requests, at most %d are expected", n, most+200)
	}
	u.runs("collect", "--yes", "--no-backup")
	requireGone(t, s, others...)
}
