package why

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// explainer explains objects of one scan.
type explainer struct {
	graph     *graph.Graph
	explainer *explain.Explainer
	live      *client.Client // nil if the scan read a file
	unknown   bool           // a requested object does not exist, and nothing is known of it
}

// all explains every selected object, in their order.
func (e *explainer) all(ctx context.Context, sel *selection) ([]*explain.Answer, error) {
	var out []*explain.Answer
	for _, t := range sel.targets {
		a, err := e.target(ctx, t, sel.namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	for _, uid := range sel.uids {
		out = append(out, e.uid(ctx, types.UID(uid)))
	}
	return out, ctx.Err()
}

func (e *explainer) target(ctx context.Context, t cli.Target, namespace string) (*explain.Answer, error) {
	switch found := t.NodesIn(e.graph, namespace); len(found) {
	case 0:
		if err := cli.UnreadError(e.graph, t, namespace); err != nil {
			return nil, err
		}
		at := t.Coordinates(namespace)
		return e.gone(ctx, object.Identity{APIVersion: at.APIVersion, Kind: at.Kind, Namespace: at.Namespace, Name: at.Name}), nil
	case 1:
		return e.present(ctx, found[0]), nil
	default:
		var in []string
		for _, n := range found {
			in = append(in, e.graph.Object(n).Namespace)
		}
		return nil, cli.WithHint(cli.Usagef("%d objects are named %s: in the namespaces %s", len(found), cli.Quote(t.String()), cli.Quote(strings.Join(in, ", "))), "use -n to choose the namespace")
	}
}

// uid explains the object with a UID. If it is gone, the references to it say what it was.
func (e *explainer) uid(ctx context.Context, uid types.UID) *explain.Answer {
	n := e.graph.Find(uid)
	if e.graph.Object(n) != nil {
		return e.present(ctx, n)
	}
	dependents := e.graph.Dependents(n)
	if len(dependents) == 0 {
		return e.gone(ctx, object.Identity{UID: uid})
	}
	r, namespace := e.graph.Reference(dependents[0]), e.graph.Object(dependents[0].Node).Namespace
	if m, mapped := e.graph.View().Map(r.APIVersion, r.Kind); mapped && !m.Type.Namespaced {
		namespace = ""
	}
	return e.gone(ctx, object.Identity{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: namespace, Name: r.Name, UID: uid})
}

func (e *explainer) present(ctx context.Context, n graph.Node) *explain.Answer {
	return e.explainer.Object(n, e.eventHistory(ctx, e.graph.Object(n).Identity))
}

func (e *explainer) gone(ctx context.Context, at object.Identity) *explain.Answer {
	a := e.explainer.Gone(at, e.eventHistory(ctx, at))
	e.unknown = e.unknown || !a.HasTraces()
	return a
}

// eventHistory returns the Events about an object.
func (e *explainer) eventHistory(ctx context.Context, id object.Identity) explain.EventHistory {
	if e.live == nil {
		return explain.EventHistory{Unread: "a file holds none"}
	}
	found, err := read.Events(ctx, e.live, id)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return explain.EventHistory{Unread: message}
	}
	var history explain.EventHistory
	for _, event := range found {
		history.Events = append(history.Events, explain.Event(event))
	}
	return history
}

// printer returns what writes the explanation in the format of -o.
func (f *whyFlags) printer() (func(*snapshot.Snapshot, *explain.Explanation) error, error) {
	switch f.output.Format {
	case "text", "wide":
		return func(taken *snapshot.Snapshot, e *explain.Explanation) error {
			view := explainview.View{Palette: f.scan.Palette(), Wide: f.output.Format == "wide", Taken: taken.Taken, Command: cli.ShellCommand}
			return view.WriteAll(f.scan.Out, e, taken.Server)
		}, nil
	}
	write, err := f.output.DocumentWriter(f.scan.Streams)
	if err != nil {
		return nil, err
	}
	return func(_ *snapshot.Snapshot, e *explain.Explanation) error {
		named := []object.Identity{}
		for _, a := range e.Answers {
			if a.Object.Name != "" {
				named = append(named, a.Object)
			}
		}
		return write("Explanation", e, named...)
	}, nil
}
