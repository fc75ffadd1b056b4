package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// The comparison with a real server has no CustomResourceDefinitions that are deleted.
func TestTheFirstDeleteOfADefinitionIgnoresThePolicy(t *testing.T) {
	s := New(testTypes)
	o := s.Add(widgetType.Definition())
	foreground := metav1.DeletionPropagation(metav1.DeletePropagationForeground)
	for _, want := range [][]string{{definitionFinalizer}, {definitionFinalizer, metav1.FinalizerDeleteDependents}} {
		left, err := s.Delete(CRDs.GroupVersionResource, "", o.Name, metav1.DeleteOptions{PropagationPolicy: &foreground})
		if err != nil || left == nil || left.DeletionTimestamp == nil || !slices.Equal(left.Finalizers, want) {
			t.Errorf("%v, %v; want the finalizers %v, terminating", left, err, want)
		}
	}
}

func TestControllersEmptyADeletedNamespaceAndDefinition(t *testing.T) {
	s := New([]*Type{Namespaces, ConfigMaps, CRDs, APIServices})
	s.Controllers = true
	s.Add(Namespaces.Object("", testNamespace))
	definition := s.Add(widgetType.Definition())
	for _, kind := range []*Type{ConfigMaps, widgetType} {
		o := kind.Object(testNamespace, "o")
		o.UID, o.Finalizers = types.UID(kind.Kind), []string{"test.example/a"}
		s.Add(o)
	}
	left := func() (paths []string) {
		for _, o := range s.Objects() {
			if o.Type != s.types[APIServices.GroupVersionResource] {
				paths = append(paths, o.Path())
			}
		}
		return paths
	}
	for _, place := range []*Object{Namespaces.Object("", testNamespace), definition} {
		if _, err := s.Delete(place.Type.GroupVersionResource, "", place.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(left()); n != 4 {
		t.Errorf("while finalizers are left, there are %v", left())
	}
	for _, uid := range []types.UID{"ConfigMap", "Widget"} {
		if err := s.RemoveFinalizer(uid, "test.example/a"); err != nil {
			t.Fatal(err)
		}
	}
	if got := left(); len(got) != 0 {
		t.Errorf("there are still %v", got)
	}
	_, err := s.List(widgetType.GroupVersionResource, "")
	var status apierrors.APIStatus
	if status, _ = err.(apierrors.APIStatus); status == nil || status.Status().Code != http.StatusNotFound || status.Status().Details.Name != "" { //nolint:errorlint // it is not wrapped
		t.Errorf("the type is still served: %v", err)
	}
	if events := s.TakeEvents(); events[len(events)-1].Type != watch.Deleted {
		t.Errorf("the last event is %v", events[len(events)-1])
	}
}

func TestAWatchEndsWhenItsTypeIsNoLongerServed(t *testing.T) {
	s := New([]*Type{ConfigMaps})
	s.Serve(widgetType)
	response, err := Transport(s).RoundTrip(httptest.NewRequest(http.MethodGet, widgetType.Path()+"?watch=true", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	s.Unserve(widgetType.GroupResource())
	s.Serve(widgetType)
	if got, err := io.ReadAll(response.Body); err != nil || len(got) > 0 {
		t.Errorf("it ends with %q, %v", got, err)
	}
}
