package read

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	selector "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxEvents limits the Events returned.
const maxEvents = 20

// eventTypes are the two APIs for Events, with the field prefix of the object they are about. A
// user may have access to only one of them.
var eventTypes = []struct {
	of    snapshot.Type
	about string
}{
	{snapshot.Type{Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}, "involvedObject."},
	{snapshot.Type{Group: "events.k8s.io", Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}, "regarding."},
}

// Events returns the latest Events about an object, oldest first, selected by kind and name, or
// by UID if the kind is unknown. Events about cluster-scoped objects are in namespace default
// (docs/gc-semantics.md#invalid-namespace-event). The error is a *client.RequestError and does
// not say whether there are any.
func Events(ctx context.Context, c *client.Client, of object.Identity) ([]object.Event, error) {
	var first error
	for _, t := range eventTypes {
		found, err := listEvents(ctx, c, t.of, t.about, of)
		if err == nil {
			return found, nil
		}
		first = cmp.Or(first, err)
	}
	reason, _ := client.Classify(first)
	return nil, client.NewRequestError("read the Events about", of, reason, first)
}

func listEvents(ctx context.Context, c *client.Client, t snapshot.Type, about string, of object.Identity) ([]object.Event, error) {
	is := func(field, value string) selector.Selector { return selector.OneTermEqualSelector(about+field, value) }
	wanted, namespace := selector.AndSelectors(is("kind", of.Kind), is("name", of.Name)), cmp.Or(of.Namespace, metav1.NamespaceDefault)
	if of.Kind == "" {
		wanted, namespace = is("uid", string(of.UID)), metav1.NamespaceAll
	}
	found, err := client.ListWhole[eventObject](ctx, c, client.Query{Type: t, Namespace: namespace}, metav1.ListOptions{FieldSelector: wanted.String()})
	if err != nil {
		return nil, err
	}
	var out []object.Event
	for i := range found {
		if found[i].about(of) {
			out = append(out, found[i].event())
		}
	}
	slices.SortStableFunc(out, func(a, b object.Event) int { return a.Last.Compare(b.Last) })
	return out[max(len(out)-maxEvents, 0):], nil
}

// eventObject holds the fields used of an Event of either API, under their names there.
type eventObject struct {
	Metadata                                metav1.ObjectMeta
	InvolvedObject, Regarding               struct{ APIVersion, UID string }
	Type, Reason, Message, Note             string
	Count, DeprecatedCount                  int
	Source, DeprecatedSource                struct{ Component string }
	ReportingComponent, ReportingController string
	LastTimestamp, DeprecatedLastTimestamp  metav1.Time
	EventTime                               metav1.MicroTime
	Series                                  struct {
		Count            int
		LastObservedTime metav1.MicroTime
	}
}

// about reports whether the Event is about an object of the same group: kinds of different groups
// may share a name.
func (e *eventObject) about(of object.Identity) bool {
	apiVersion := cmp.Or(e.InvolvedObject.APIVersion, e.Regarding.APIVersion)
	gv, err := schema.ParseGroupVersion(apiVersion)
	return apiVersion == "" || of.Kind == "" || err == nil && gv.Group == of.GroupVersionKind().Group
}

func (e *eventObject) event() object.Event {
	last := e.Metadata.CreationTimestamp.Time
	for _, t := range []time.Time{e.Series.LastObservedTime.Time, e.LastTimestamp.Time, e.DeprecatedLastTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			last = t
			break
		}
	}
	return object.Event{
		Last: last.UTC(), Count: max(e.Series.Count, e.Count, e.DeprecatedCount, 1), Type: e.Type, Reason: e.Reason,
		Source:  cmp.Or(e.Source.Component, e.DeprecatedSource.Component, e.ReportingComponent, e.ReportingController),
		Message: cmp.Or(e.Message, e.Note), UID: cmp.Or(e.InvolvedObject.UID, e.Regarding.UID),
	}
}
