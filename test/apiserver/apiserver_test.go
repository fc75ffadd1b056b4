package apiserver

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const testNamespace = "contents"

var (
	eventType  = with(Namespaced("", "events", "Event"), func(t *Type) { t.IgnoresPolicy = true })
	rcType     = with(Namespaced("", "replicationcontrollers", "ReplicationController"), orphansByDefault)
	jobType    = with(Namespaced("batch", "jobs", "Job"), orphansByDefault)
	widgetType = with(Namespaced("test.example", "widgets", "Widget"), func(t *Type) { t.Custom, t.OtherVersions = true, []string{"v1beta1"} })
	testTypes  = []*Type{ConfigMaps, Pods, Namespaces, eventType, rcType, jobType, CRDs, widgetType}
)

func with(t *Type, change func(*Type)) *Type {
	change(t)
	return t
}

func orphansByDefault(t *Type) { t.OrphansByDefault = true }

// serverWith returns a server with these objects and their namespace.
func serverWith(objects ...*Object) *Server {
	s := New(testTypes)
	s.Add(Namespaces.Object("", testNamespace))
	for _, o := range objects {
		s.Add(o)
	}
	s.TakeEvents()
	return s
}

func object(t *Type, finalizers ...string) *Object {
	namespace := ""
	if t.Namespaced {
		namespace = testNamespace
	}
	o := t.Object(namespace, "o")
	o.UID, o.Finalizers, o.SpecFinalizers = "uid", finalizers, nil
	return o
}

func deleteObject(t *testing.T, s *Server, kind *Type, policy metav1.DeletionPropagation) {
	t.Helper()
	var options metav1.DeleteOptions
	if policy != "" {
		options.PropagationPolicy = &policy
	}
	o := object(kind)
	if _, err := s.Delete(kind.GroupVersionResource, o.Namespace, o.Name, options); err != nil {
		t.Fatal(err)
	}
}

func wantFinalizers(t *testing.T, s *Server, want ...string) {
	t.Helper()
	objects := slices.DeleteFunc(s.Objects(), func(o Object) bool { return o.Name != "o" })
	if len(objects) != 1 {
		t.Fatalf("%d objects, want 1", len(objects))
	}
	if got := objects[0].Finalizers; !slices.Equal(got, want) || objects[0].DeletionTimestamp == nil {
		t.Errorf("finalizers %v, deletionTimestamp %v; want %v, terminating", got, objects[0].DeletionTimestamp, want)
	}
}

func wantEvents(t *testing.T, s *Server, want ...watch.EventType) {
	t.Helper()
	var got []watch.EventType
	for _, e := range s.TakeEvents() {
		got = append(got, e.Type)
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestAnExplicitPolicyReplacesAnExistingFinalizer(t *testing.T) {
	s := serverWith(object(ConfigMaps, metav1.FinalizerOrphanDependents, "test.example/a"))
	deleteObject(t, s, ConfigMaps, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, "test.example/a", metav1.FinalizerDeleteDependents)
	deleteObject(t, s, ConfigMaps, "")
	wantFinalizers(t, s, "test.example/a", metav1.FinalizerDeleteDependents)
	wantEvents(t, s, watch.Modified)
}

func TestJobsOrphanTheirDependentsByDefault(t *testing.T) {
	s := serverWith(object(jobType))
	deleteObject(t, s, jobType, "")
	wantFinalizers(t, s, metav1.FinalizerOrphanDependents)
}

func TestAPendingGracefulDeletionIgnoresThePolicy(t *testing.T) {
	pod := object(Pods)
	pod.GraceSeconds, pod.Scheduled = 30, true
	s := serverWith(pod)
	deleteObject(t, s, Pods, metav1.DeletePropagationBackground)
	deleteObject(t, s, Pods, metav1.DeletePropagationForeground)
	wantFinalizers(t, s)
	wantEvents(t, s, watch.Modified)
}

func TestANamespaceWaitsForItsSpecFinalizers(t *testing.T) {
	namespace := object(Namespaces)
	namespace.SpecFinalizers = []string{"kubernetes"}
	s := serverWith(namespace)
	deleteObject(t, s, Namespaces, "")
	deleteObject(t, s, Namespaces, metav1.DeletePropagationForeground)
	wantFinalizers(t, s)
	if err := s.Finalize("o"); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, s, watch.Modified, watch.Deleted)
}

func TestTheFirstDeleteOfADefinitionIgnoresThePolicy(t *testing.T) {
	s := serverWith(object(CRDs))
	deleteObject(t, s, CRDs, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, definitionFinalizer)
	deleteObject(t, s, CRDs, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, definitionFinalizer, metav1.FinalizerDeleteDependents)
}

func TestRemovingTheLastFinalizerOfATerminatingObjectRemovesTheObject(t *testing.T) {
	s := serverWith(object(widgetType, "test.example/a"))
	deleteObject(t, s, widgetType, "")
	if err := s.RemoveFinalizer("uid", "test.example/a"); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, s, watch.Modified, watch.Deleted)
	if n := s.Revision(); n != 4 {
		t.Errorf("%d writes, want 4: add the namespace and the object, mark, remove", n)
	}
}

func TestACustomResourceRefusesAStrategicMergePatch(t *testing.T) {
	s := serverWith(object(widgetType))
	_, err := s.Patch(widgetType.GroupVersionResource, testNamespace, "o", types.StrategicMergePatchType, []byte(`{}`))
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Error(err)
	}
}

func TestAPatchRemovesReferencesByTheirUID(t *testing.T) {
	o := object(ConfigMaps)
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "n", UID: "u1"}
	other := reference
	other.UID = "u2"
	o.OwnerReferences = []metav1.OwnerReference{reference, other}
	s := serverWith(o)
	patch := func(uid string) error {
		_, err := s.Patch(ConfigMaps.GroupVersionResource, testNamespace, "o", types.StrategicMergePatchType,
			[]byte(`{"metadata":{"uid":"`+uid+`","ownerReferences":[{"$patch":"delete","uid":"u1"}]}}`))
		return err
	}
	if err := patch("another"); !apierrors.IsInvalid(err) {
		t.Errorf("patch of another UID: %v", err)
	}
	for range 2 { // the second one changes nothing
		if err := patch("uid"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Objects()[0].OwnerReferences; !slices.Equal(got, []metav1.OwnerReference{other}) {
		t.Errorf("references %v", got)
	}
	wantEvents(t, s, watch.Modified)
}

func TestOnlyAServedPathNamesTheMissingObject(t *testing.T) {
	s := serverWith(object(widgetType))
	resource := func(version string) schema.GroupVersionResource {
		return widgetType.GroupVersionResource.GroupResource().WithVersion(version)
	}
	if _, err := s.Get(resource("v1beta1"), testNamespace, "o"); err != nil {
		t.Errorf("in another served version: %v", err)
	}
	named := func(err error) string {
		status, ok := err.(apierrors.APIStatus) //nolint:errorlint // it is not wrapped
		if !ok || status.Status().Code != http.StatusNotFound {
			t.Fatalf("%v, want 404", err)
		}
		if status.Status().Details == nil {
			return ""
		}
		return status.Status().Details.Name
	}
	_, missing := s.Get(resource("v1"), testNamespace, "absent")
	_, unserved := s.Get(resource("v9"), testNamespace, "absent")
	if named(missing) != "absent" || named(unserved) != "" {
		t.Errorf("missing object %v, unserved version %v", missing, unserved)
	}

	s.Unserve(widgetType.GroupVersionResource.GroupResource())
	for _, version := range []string{"v1", "v1beta1"} {
		_, get := s.Get(resource(version), testNamespace, "o")
		_, list := s.List(resource(version), "")
		_, patch := s.Patch(resource(version), testNamespace, "o", types.MergePatchType, []byte(`{}`))
		_, remove := s.Delete(resource(version), testNamespace, "o", metav1.DeleteOptions{})
		for _, err := range []error{
			get, list, patch, remove,
			s.DeleteCollection(resource(version), testNamespace, metav1.DeleteOptions{}),
		} {
			if named(err) != "" {
				t.Errorf("in %s, after the resource was removed: %v", version, err)
			}
		}
	}
}

func TestAnObjectInAMissingNamespaceCanBeDeletedButNotPatched(t *testing.T) {
	o := object(ConfigMaps, "test.example/a")
	o.Namespace = "missing"
	s := serverWith(o)
	if _, err := s.Delete(ConfigMaps.GroupVersionResource, "missing", "o", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Patch(ConfigMaps.GroupVersionResource, "missing", "o", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusNotFound || status.Status().Details.Kind != "namespaces" {
		t.Errorf("patch: %v, want a 404 that names the namespace", err)
	}
	if err := s.RemoveFinalizer("uid", "test.example/a"); !apierrors.IsNotFound(err) {
		t.Errorf("remove the finalizer: %v, want a 404", err)
	}
	wantEvents(t, s, watch.Modified)
}
