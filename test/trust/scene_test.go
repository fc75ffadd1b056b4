package trust

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const orphan = metav1.FinalizerOrphanDependents

// referenceTo returns an owner reference to an object.
func referenceTo(o *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID()}
}

// missingOwner returns a reference to an owner of that type that does not exist, so that an
// object without other owners is garbage.
func missingOwner(t Type) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: t.GroupVersion().String(), Kind: t.Kind, Name: "absent", UID: "aaaaaaaa-0000-4000-8000-000000000000"}
}

// ownedBy returns the object with these owners.
func ownedBy(o *unstructured.Unstructured, owners ...metav1.OwnerReference) *unstructured.Unstructured {
	o.SetOwnerReferences(owners)
	return o
}

// orphaning returns an object that was deleted with --cascade=orphan: it waits
// for a garbage collector to remove the references of its dependents.
func orphaning(o *unstructured.Unstructured) *unstructured.Unstructured {
	o.SetFinalizers([]string{orphan})
	terminate(o)
	return o
}

// garbageNamespace adds a Namespace that is garbage, with this many Secrets in it.
func garbageNamespace(s *Server, secrets int) *unstructured.Unstructured {
	ns := s.Add(ownedBy(Namespaces.object("", "doomed"), missingOwner(Namespaces)))
	addSecrets(s, ns.GetName(), secrets)
	return ns
}

// addSecrets adds Secrets with new names.
func addSecrets(s *Server, namespace string, n int) {
	for range n {
		s.Add(Secrets.object(namespace, fmt.Sprintf("content-%03d", s.count(Secrets, namespace))))
	}
}

// count returns the number of objects of a type in a namespace.
func (s *Server) count(t Type, namespace string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ofType(t, namespace))
}

// requireKept requires that objects exist, are not terminating, and that no DELETE was sent for
// them.
func requireKept(t *testing.T, s *Server, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		now := s.Now(o)
		if now == nil || now.GetDeletionTimestamp() != nil && o.GetDeletionTimestamp() == nil {
			t.Errorf("%s/%s was deleted", o.GetKind(), o.GetName())
		}
		if sent(s, http.MethodDelete, o) {
			t.Errorf("a DELETE of %s/%s was sent", o.GetKind(), o.GetName())
		}
	}
}

// requireGone requires that objects are gone.
func requireGone(t *testing.T, s *Server, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		if s.Now(o) != nil {
			t.Errorf("%s/%s is still there", o.GetKind(), o.GetName())
		}
	}
}

// requireFinalizers requires that an object still has its finalizers.
func requireFinalizers(t *testing.T, s *Server, o *unstructured.Unstructured) {
	t.Helper()
	now := s.Now(o)
	if now == nil || !slices.Equal(now.GetFinalizers(), o.GetFinalizers()) {
		t.Errorf("%s/%s lost a finalizer: had %v, is %v", o.GetKind(), o.GetName(), o.GetFinalizers(), now)
	}
}

// sent reports whether the server received a write of that method about the object.
func sent(s *Server, method string, o *unstructured.Unstructured) bool {
	s.mu.Lock()
	path := s.pathOf(o)
	s.mu.Unlock()
	return slices.ContainsFunc(s.Writes(), func(r Request) bool { return r.Method == method && r.Path == path })
}

func (s *Server) pathOf(o *unstructured.Unstructured) string {
	path := s.typeOf(o).Path()
	if ns := o.GetNamespace(); ns != "" {
		i := strings.LastIndex(path, "/")
		path = path[:i] + "/namespaces/" + ns + path[i:]
	}
	return path + "/" + o.GetName()
}
