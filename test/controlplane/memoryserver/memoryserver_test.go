package memoryserver

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
	configMapType = &Type{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap", Namespaced: true}
	podType       = &Type{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespaced: true}
	namespaceType = &Type{GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Kind: "Namespace"}
	eventType     = &Type{GVR: schema.GroupVersionResource{Version: "v1", Resource: "events"}, Kind: "Event", Namespaced: true, IgnoresPolicy: true}
	rcType        = &Type{GVR: schema.GroupVersionResource{Version: "v1", Resource: "replicationcontrollers"}, Kind: "ReplicationController", Namespaced: true, OrphansByDefault: true}
	jobType       = &Type{GVR: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true, OrphansByDefault: true}
	crdType       = &Type{GVR: customResourceDefinitions.WithVersion("v1"), Kind: "CustomResourceDefinition"}
	widgetType    = &Type{GVR: schema.GroupVersionResource{Group: "test.example", Version: "v1", Resource: "widgets"}, OtherVersions: []string{"v1beta1"}, Kind: "Widget", Namespaced: true, Custom: true}
	testTypes     = []*Type{configMapType, podType, namespaceType, eventType, rcType, jobType, crdType, widgetType}
)

// serverWith returns a server with these objects and their namespace.
func serverWith(objects ...Object) *Server {
	s := New(testTypes)
	s.Add(testNamespaceObject())
	for _, o := range objects {
		s.Add(o)
	}
	s.TakeEvents()
	return s
}

func testNamespaceObject() Object {
	o := Object{Type: namespaceType}
	o.Name = testNamespace
	return o
}

func object(kind *Type, finalizers ...string) Object {
	o := Object{Type: kind}
	o.Name, o.UID, o.Finalizers = "o", "uid", finalizers
	if kind.Namespaced {
		o.Namespace = testNamespace
	}
	return o
}

func deleteObject(t *testing.T, s *Server, kind *Type, policy metav1.DeletionPropagation) {
	t.Helper()
	var options metav1.DeleteOptions
	if policy != "" {
		options.PropagationPolicy = &policy
	}
	o := object(kind)
	if err := s.Delete(kind.GVR, o.Namespace, o.Name, options); err != nil {
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
	s := serverWith(object(configMapType, metav1.FinalizerOrphanDependents, "test.example/a"))
	deleteObject(t, s, configMapType, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, "test.example/a", metav1.FinalizerDeleteDependents)
	deleteObject(t, s, configMapType, "")
	wantFinalizers(t, s, "test.example/a", metav1.FinalizerDeleteDependents)
	wantEvents(t, s, watch.Modified)
}

func TestJobsOrphanTheirDependentsByDefault(t *testing.T) {
	s := serverWith(object(jobType))
	deleteObject(t, s, jobType, "")
	wantFinalizers(t, s, metav1.FinalizerOrphanDependents)
}

func TestAPendingGracefulDeletionIgnoresThePolicy(t *testing.T) {
	pod := object(podType)
	pod.GraceSeconds, pod.Scheduled = 30, true
	s := serverWith(pod)
	deleteObject(t, s, podType, metav1.DeletePropagationBackground)
	deleteObject(t, s, podType, metav1.DeletePropagationForeground)
	wantFinalizers(t, s)
	wantEvents(t, s, watch.Modified)
}

func TestANamespaceWaitsForItsSpecFinalizers(t *testing.T) {
	namespace := object(namespaceType)
	namespace.SpecFinalizers = []string{"kubernetes"}
	s := serverWith(namespace)
	deleteObject(t, s, namespaceType, "")
	deleteObject(t, s, namespaceType, metav1.DeletePropagationForeground)
	wantFinalizers(t, s)
	if err := s.Finalize("o"); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, s, watch.Modified, watch.Deleted)
}

func TestTheFirstDeleteOfADefinitionIgnoresThePolicy(t *testing.T) {
	s := serverWith(object(crdType))
	deleteObject(t, s, crdType, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, definitionFinalizer)
	deleteObject(t, s, crdType, metav1.DeletePropagationForeground)
	wantFinalizers(t, s, definitionFinalizer, metav1.FinalizerDeleteDependents)
}

func TestRemovingTheLastFinalizerOfATerminatingObjectRemovesTheObject(t *testing.T) {
	s := serverWith(object(widgetType, "test.example/a"))
	deleteObject(t, s, widgetType, "")
	if err := s.RemoveFinalizer("uid", "test.example/a"); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, s, watch.Modified, watch.Deleted)
	if n := s.Writes(); n != 4 {
		t.Errorf("%d writes, want 4: add the namespace and the object, mark, remove", n)
	}
}

func TestACustomResourceRefusesAStrategicMergePatch(t *testing.T) {
	s := serverWith(object(widgetType))
	_, err := s.Patch(widgetType.GVR, testNamespace, "o", types.StrategicMergePatchType, []byte(`{}`))
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Error(err)
	}
}

func TestAPatchRemovesReferencesByTheirUID(t *testing.T) {
	o := object(configMapType)
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "n", UID: "u1"}
	other := reference
	other.UID = "u2"
	o.OwnerReferences = []metav1.OwnerReference{reference, other}
	s := serverWith(o)
	patch := func(uid string) error {
		_, err := s.Patch(configMapType.GVR, testNamespace, "o", types.StrategicMergePatchType,
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
		return widgetType.GVR.GroupResource().WithVersion(version)
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

	s.Unserve(widgetType.GVR.GroupResource())
	for _, version := range []string{"v1", "v1beta1"} {
		_, get := s.Get(resource(version), testNamespace, "o")
		_, list := s.List(resource(version), "")
		_, patch := s.Patch(resource(version), testNamespace, "o", types.MergePatchType, []byte(`{}`))
		for _, err := range []error{
			get, list, patch,
			s.Delete(resource(version), testNamespace, "o", metav1.DeleteOptions{}),
			s.DeleteCollection(resource(version), testNamespace, metav1.DeleteOptions{}),
		} {
			if named(err) != "" {
				t.Errorf("in %s, after the resource was removed: %v", version, err)
			}
		}
	}
}

func TestAnObjectInAMissingNamespaceCanBeDeletedButNotPatched(t *testing.T) {
	o := object(configMapType, "test.example/a")
	o.Namespace = "missing"
	s := serverWith(o)
	deleteMissing := func() error {
		return s.Delete(configMapType.GVR, "missing", "o", metav1.DeleteOptions{})
	}
	if err := deleteMissing(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Patch(configMapType.GVR, "missing", "o", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusNotFound || status.Status().Details.Kind != "namespaces" {
		t.Errorf("patch: %v, want a 404 that names the namespace", err)
	}
	if err := s.RemoveFinalizer("uid", "test.example/a"); !apierrors.IsNotFound(err) {
		t.Errorf("remove the finalizer: %v, want a 404", err)
	}
	wantEvents(t, s, watch.Modified)
}
