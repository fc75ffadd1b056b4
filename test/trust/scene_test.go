package trust

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

const orphan = metav1.FinalizerOrphanDependents

// referenceTo returns an owner reference to an object.
func referenceTo(o *Object) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}
}

// missingOwner returns a reference to an owner of that type that does not exist, so that an
// object without other owners is garbage.
func missingOwner(t *Type) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: t.GroupVersion().String(), Kind: t.Kind, Name: "absent", UID: "aaaaaaaa-0000-4000-8000-000000000000"}
}

// ownedBy returns the object with these owners.
func ownedBy(o *Object, owners ...metav1.OwnerReference) *Object {
	o.OwnerReferences = owners
	return o
}

// orphaning returns an object that was deleted with --cascade=orphan: it waits
// for a garbage collector to remove the references of its dependents.
func orphaning(o *Object) *Object {
	o.Finalizers = []string{orphan}
	return terminating(o)
}

// terminating returns an object that was deleted.
func terminating(o *Object) *Object {
	o.DeletionTimestamp, o.DeletionGracePeriodSeconds = new(metav1.Now()), new(int64(0))
	return o
}

// garbageNamespace adds a Namespace that is garbage, with this many Secrets in it.
func garbageNamespace(s *Server, secrets int) *Object {
	ns := s.Add(ownedBy(Namespaces.Object("", "doomed"), missingOwner(Namespaces)))
	addSecrets(s, ns.Name, secrets)
	return ns
}

// addSecrets adds Secrets with new names.
func addSecrets(s *Server, namespace string, n int) {
	for range n {
		s.Add(Secrets.Object(namespace, fmt.Sprintf("content-%03d", s.count(Secrets, namespace))))
	}
}

// count returns the number of objects of a type in a namespace.
func (s *Server) count(t *Type, namespace string) int {
	objects, _ := s.List(t.GroupVersionResource, namespace) // fails if the type is not served
	return len(objects)
}

// Now returns the current object, or nil if it was deleted or replaced.
func (s *Server) Now(o *Object) *Object {
	now, err := s.Get(o.Type.GroupVersionResource, o.Namespace, o.Name)
	if err != nil || now.UID != o.UID {
		return nil
	}
	return now
}

// requireKept requires that objects exist, are not terminating, and that no DELETE was sent for
// them.
func requireKept(t *testing.T, s *Server, objects ...*Object) {
	t.Helper()
	for _, o := range objects {
		now := s.Now(o)
		if now == nil || now.DeletionTimestamp != nil && o.DeletionTimestamp == nil {
			t.Errorf("%s/%s was deleted", o.Kind, o.Name)
		}
		if sent(s, http.MethodDelete, o) {
			t.Errorf("a DELETE of %s/%s was sent", o.Kind, o.Name)
		}
	}
}

// requireGone requires that objects are gone.
func requireGone(t *testing.T, s *Server, objects ...*Object) {
	t.Helper()
	for _, o := range objects {
		if s.Now(o) != nil {
			t.Errorf("%s/%s is still there", o.Kind, o.Name)
		}
	}
}

// requireFinalizers requires that an object still has its finalizers.
func requireFinalizers(t *testing.T, s *Server, o *Object) {
	t.Helper()
	now := s.Now(o)
	if now == nil || !slices.Equal(now.Finalizers, o.Finalizers) {
		t.Errorf("%s/%s lost a finalizer: had %v, is %v", o.Kind, o.Name, o.Finalizers, now)
	}
}

// sent reports whether the server received a write of that method about the object.
func sent(s *Server, method string, o *Object) bool {
	return slices.ContainsFunc(s.Writes(), func(r apiserver.Request) bool { return r.Method == method && r.Path == o.Path() })
}
