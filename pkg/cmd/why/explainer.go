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
	page "github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// explainer is one look about which questions are answered.
type explainer struct {
	graph     *graph.Graph
	view      *explain.Explainer
	live      *client.Client // nil when the look came from a file
	traceless bool           // an object was asked for that is not there, and of which nothing tells
}

func newExplainer(taken *snapshot.Snapshot, live *client.Client) *explainer {
	g := graph.New(taken)
	return &explainer{graph: g, view: explain.NewExplainer(g), live: live}
}

// all answers every question, in their order.
func (e *explainer) all(ctx context.Context, asked *selection) ([]*explain.Answer, error) {
	var out []*explain.Answer
	for _, t := range asked.targets {
		a, err := e.target(ctx, t, asked.namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	for _, uid := range asked.uids {
		out = append(out, e.uid(ctx, uid))
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

// uid answers about what bears a UID. Of one that nothing bears, those who name
// it tell what it was.
func (e *explainer) uid(ctx context.Context, uid types.UID) *explain.Answer {
	n := e.graph.Find(uid)
	if e.graph.Object(n) != nil {
		return e.present(ctx, n)
	}
	named := e.graph.Dependents(n)
	if len(named) == 0 {
		return e.gone(ctx, object.Identity{UID: uid})
	}
	r, namespace := e.graph.Reference(named[0]), e.graph.Object(named[0].Node).Namespace
	if m, mapped := e.graph.View().Map(r.APIVersion, r.Kind); mapped && !m.Type.Namespaced {
		namespace = ""
	}
	return e.gone(ctx, object.Identity{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: namespace, Name: r.Name, UID: uid})
}

func (e *explainer) present(ctx context.Context, n graph.Node) *explain.Answer {
	return e.view.Of(n, e.eventHistory(ctx, e.graph.Object(n).Identity))
}

func (e *explainer) gone(ctx context.Context, at object.Identity) *explain.Answer {
	a := e.view.Gone(at, e.eventHistory(ctx, at))
	e.traceless = e.traceless || !a.Traced()
	return a
}

// eventHistory is what the cluster's Events tell of an object.
func (e *explainer) eventHistory(ctx context.Context, of object.Identity) explain.EventHistory {
	if e.live == nil {
		return explain.EventHistory{Unread: "a file holds none"}
	}
	found, err := read.Events(ctx, e.live, of)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return explain.EventHistory{Unread: message}
	}
	var told explain.EventHistory
	for _, event := range found {
		told.Events = append(told.Events, explain.Event(event))
	}
	return told
}

// printer chooses how the explanation is written, before anything is asked.
func (f *whyFlags) printer() (func(*snapshot.Snapshot, *explain.Explanation) error, error) {
	switch f.output {
	case "text", "wide":
		return func(taken *snapshot.Snapshot, e *explain.Explanation) error {
			view := page.View{Palette: f.scan.Palette(), Wide: f.output == "wide", Taken: taken.Taken, Command: cli.ShellCommand}
			return view.WriteAll(f.scan.Out, e, taken.Server)
		}, nil
	}
	format, err := f.formats.ToPrinter(f.output, cli.OwnFormats["why"]...)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return func(_ *snapshot.Snapshot, e *explain.Explanation) error {
		named := []object.Identity{}
		for _, a := range e.Answers {
			if a.Object.Name != "" {
				named = append(named, a.Object)
			}
		}
		return format.Print(f.scan.Out, structured.NewDocument("Explanation", e, named...), f.scan.OutTerm)
	}, nil
}
