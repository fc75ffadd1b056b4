package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const unsafely = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"

// sceneWithUnreadable returns a scene whose API server names the objects that it cannot read.
func sceneWithUnreadable(t *testing.T) *scene {
	s := sceneWithCollector(t)
	if s.serverBefore("1.37") {
		t.Skip("AllowUnsafeMalformedObjectDeletion is off")
	}
	return s
}

// corrupt makes an object unreadable, until it is deleted unsafely, at the latest when the test ends.
func (s *scene) corrupt(key, path string) {
	s.Helper()
	s.must(s.controlPlane.Corrupt(s.Context(), key))
	s.Cleanup(func() { _ = s.controlPlane.Kubectl(context.Background(), "delete", "--raw", path+unsafely).Run() })
}

// KEP-3926: an object that the API server cannot read any more blocks its namespace and keeps its dependents. Its
// unsafe deletion, which only a person may send, leaves the rest to the collector.
func TestUnsafeDeletionOfUnreadableObjectDoesWhatWhySays(t *testing.T) {
	s := sceneWithUnreadable(t)
	ns := s.namespace("unreadable")
	owner, other := s.create(secret(ns, "web", heldBy("example.com/ignored"))), s.create(configMap(ns, "other"))
	first := s.create(configMap(ns, "first", ownedBy(referenceTo(owner, blocking))))
	held := s.create(configMap(ns, "held", ownedBy(referenceTo(owner)), heldBy("example.com/hold")))
	all := []object{
		other, first, held,
		s.create(configMap(ns, "second", ownedBy(referenceTo(first)))),
		s.create(configMap(ns, "below-held", ownedBy(referenceTo(held)))),
		s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), referenceTo(other)))),
	}
	path := "/api/v1/namespaces/" + ns + "/secrets/web"
	s.corrupt("/registry/secrets/"+ns+"/web", path)
	named := "secrets (1 object in etcd cannot be read: " + ns + "/web)"

	s.gc("audit", "--fail-on=never").exits(t, 0).warns(t, named)
	s.gc("doctor", "--settle", "0s").exits(t, 1).shows(t, "could not list "+named, "kubectl gc why secrets/web -n "+ns)
	s.gc("why", "secret/web", "-n", ns).exits(t, 0).shows(t, "Secret/web cannot be read", "3 objects name it as their owner")
	s.gc("why", "configmap/first", "-n", ns).exits(t, 0).shows(t, "It is unknown what happens to ConfigMap/first", ns+"/web")
	s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "stays while the API server cannot list secrets in it: 1 object in etcd cannot be read: "+ns+"/web.")

	real := func() map[string]string {
		out := map[string]string{}
		for _, o := range all {
			live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				out[o.GetName()] = "deleted"
				continue
			case err != nil:
				t.Fatal(err)
			case live.GetDeletionTimestamp() != nil:
				out[o.GetName()] = "terminating"
			case len(live.GetOwnerReferences()) < len(o.GetOwnerReferences()):
				out[o.GetName()] = "changed"
			default:
				out[o.GetName()] = "unchanged"
			}
		}
		return out
	}
	s.gc("delete", "secret/web", "-n", ns, "--yes").exits(t, 2)
	shown := s.gc("why", "secret/web", "-n", ns).exits(t, 0)
	_, command, _ := strings.Cut(shown.Stdout, "kubectl delete --raw '")
	given, _, _ := strings.Cut(command, "'")
	if given != path+unsafely+"&dryRun=All" {
		t.Fatalf("why suggests %q:\n%s", given, shown.Stdout)
	}
	s.kubectl("delete", "--raw", given).exits(t, 0)
	for _, state := range slices.Sorted(maps.Values(real())) {
		if state != "unchanged" {
			t.Fatalf("before the deletion: %v", real())
		}
	}
	s.kubectl("delete", "--raw", path+unsafely).exits(t, 0)
	after := map[string]string{"other": "unchanged", "first": "deleted", "second": "deleted", "held": "terminating", "below-held": "unchanged", "shared": "changed"}
	s.await("the garbage collector", func(context.Context) (bool, error) { return maps.Equal(real(), after), nil })
	s.must(s.deleteObject(t.Context(), held)) // removes its finalizer
	after["held"], after["below-held"] = "deleted", "deleted"
	s.await("what goes later", func(context.Context) (bool, error) { return maps.Equal(real(), after), nil })
	s.gc("audit", "-n", ns, "--fail-on=never", "--strict").exits(t, 0)
}

func TestNamespaceWithUnreadableObject(t *testing.T) {
	s := sceneWithUnreadable(t)
	const group = "unreadable.kubectl-gc.dev"
	s.define(definition(group, "Widget", "Namespaced", version("v1", true)))
	ns, elsewhere := s.namespace("unreadable"), s.namespace("unreadable")
	s.create(newObject(group+"/v1", "Widget", ns, "lamp"))
	path := "/apis/" + group + "/v1/namespaces/" + ns + "/widgets/lamp"
	s.corrupt("/registry/"+group+"/widgets/"+ns+"/lamp", path)
	named := "widgets." + group + " (1 object in etcd cannot be read: " + ns + "/lamp)"
	s.gc("audit", "--fail-on=never").exits(t, 0).warns(t, named)

	n := s.deleteStuck(ns, "NamespaceDeletionContentFailure")
	s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, ", and stays while the API server cannot list "+named, "kubectl gc why widgets."+group+"/lamp -n "+ns)
	s.gc("stuck").exits(t, 0).shows(t, ns)
	space := s.live(newObject("v1", "Namespace", "", elsewhere))
	s.must(s.client(space).Delete(t.Context(), elsewhere, metav1.DeleteOptions{}))
	s.await("the end of a namespace without such an object", func(context.Context) (bool, error) { return s.gone(space), nil })

	// A new storage of the type has no cache, as after a restart of the API server: it cannot fill one.
	s.kubectl("patch", "crd/widgets."+group, "--type=json", "-p", `[{"op":"add","path":"/spec/names/shortNames","value":["lampwidget"]}]`).exits(t, 0)
	s.await("a storage without a cache", func(context.Context) (bool, error) {
		r := s.kubectl("get", "--raw", "/apis/"+group+"/v1/widgets")
		return strings.Contains(r.Stderr, "storage is (re)initializing"), nil
	})
	s.gc("audit", "--fail-on=never").exits(t, 0).warns(t, named)
	s.kubectl("delete", "--raw", path+unsafely).exits(t, 0)
	s.await("the end of the namespace", func(context.Context) (bool, error) { return s.gone(n.space), nil })
}
