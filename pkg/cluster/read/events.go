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

var events = snapshot.Type{Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}

// Events returns the latest Events about an object, oldest first, selected by kind and name, or
// by UID if the kind is unknown. Events about cluster-scoped objects are in namespace default
// (docs/gc-semantics.md#invalid-namespace-event). The error is a *client.RequestError and does
// not say whether there are any.
func Events(ctx context.Context, c *client.Client, of object.Identity) ([]object.ClusterEvent, error) {
	is := func(field, value string) selector.Selector {
		return selector.OneTermEqualSelector("involvedObject."+field, value)
	}
	wanted, namespace := selector.AndSelectors(is("kind", of.Kind), is("name", of.Name)), cmp.Or(of.Namespace, metav1.NamespaceDefault)
	if of.Kind == "" {
		wanted, namespace = is("uid", string(of.UID)), metav1.NamespaceAll
	}
	found, err := client.ListWhole[eventObject](ctx, c, client.Query{Type: events, Namespace: namespace}, metav1.ListOptions{FieldSelector: wanted.String()})
	if err != nil {
		reason, _ := client.Classify(err)
		return nil, client.NewRequestError("read the Events about", of, reason, err)
	}
	var out []object.ClusterEvent
	for i := range found {
		if found[i].about(of) {
			out = append(out, found[i].event())
		}
	}
	slices.SortStableFunc(out, func(a, b object.ClusterEvent) int { return a.Last.Compare(b.Last) })
	return out[max(len(out)-maxEvents, 0):], nil
}

// eventObject holds the fields used of an Event.
type eventObject struct {
	Metadata           metav1.ObjectMeta
	InvolvedObject     struct{ APIVersion, UID string }
	Type, Reason       string
	Message            string
	Count              int
	Source             struct{ Component string }
	ReportingComponent string
	LastTimestamp      metav1.Time
	EventTime          metav1.MicroTime
	Series             struct {
		Count            int
		LastObservedTime metav1.MicroTime
	}
}

// about reports whether the Event is about an object of the same group: kinds of different groups
// may share a name.
func (e *eventObject) about(of object.Identity) bool {
	apiVersion := e.InvolvedObject.APIVersion
	gv, err := schema.ParseGroupVersion(apiVersion)
	return apiVersion == "" || of.Kind == "" || err == nil && gv.Group == of.GroupVersionKind().Group
}

func (e *eventObject) event() object.ClusterEvent {
	last := e.Metadata.CreationTimestamp.Time
	for _, t := range []time.Time{e.Series.LastObservedTime.Time, e.LastTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			last = t
			break
		}
	}
	return object.ClusterEvent{
		Last: last.UTC(), Count: max(e.Series.Count, e.Count, 1), Type: e.Type, Reason: e.Reason,
		Source:  cmp.Or(e.Source.Component, e.ReportingComponent),
		Message: e.Message, UID: e.InvolvedObject.UID,
	}
}
