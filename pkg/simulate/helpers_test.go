package simulate_test

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// drawCoherent draws a snapshot in which every UID has one place and one state, as in a
// cluster that does not change during the scan.
func drawCoherent(t *rapid.T) *snapshot.Snapshot {
	if rapid.IntRange(0, 2).Draw(t, "busy") > 0 {
		return st.DrawBusy(t)
	}
	s := st.Draw(t)
	known := map[types.UID]*object.Object{}
	for _, o := range s.Objects {
		known[o.UID] = o
	}
	view := snapshot.NewView(s)
	for i, l := range s.Lookups {
		if l.Object == nil {
			continue
		}
		o, twice := known[l.Object.UID]
		switch {
		case !twice:
			known[l.Object.UID] = l.Object
		case livesAt(view, *o, l.Coordinates):
			s.Lookups[i].Object = o
		default:
			s.Lookups[i] = snapshot.Lookup{Coordinates: l.Coordinates, Outcome: snapshot.Absent}
		}
	}
	return s
}

func livesAt(view *snapshot.View, o object.Object, c snapshot.Coordinates) bool {
	asked, _ := view.Map(c.APIVersion, c.Kind)
	return slices.ContainsFunc(append([]object.Identity{o.Identity}, o.Aliases...), func(i object.Identity) bool {
		lives, ok := view.Map(i.APIVersion, i.Kind)
		return ok && lives.Type.GroupResource() == asked.Type.GroupResource() && i.Namespace == c.Namespace && i.Name == c.Name
	})
}

// modelOf returns a model of a snapshot.
func modelOf(s *snapshot.Snapshot) *simulate.Model {
	g := graph.New(s)
	return simulate.NewModel(collector.NewJudge(g), simulate.Own)
}

// simulateAll simulates a snapshot without bounds.
func simulateAll(s *snapshot.Snapshot) *simulate.Prediction {
	return simulate.RunFrom(modelOf(s), simulate.Bounds{})
}

// snapshotOf returns the snapshot that a scan of the model's state would take, with the
// same gaps. Lookups of objects that are gone have outcome Absent.
func snapshotOf(m *simulate.Model) *snapshot.Snapshot {
	g := m.Graph()
	now := *g.Snapshot()
	now.Objects, now.Lookups = nil, nil
	for n := range g.Listed() {
		if o := m.Object(graph.Node(n)); o != nil {
			now.Objects = append(now.Objects, o)
		}
	}
	for _, l := range g.Snapshot().Lookups {
		if l.Object != nil {
			switch o := m.Object(g.Find(l.Object.UID)); {
			case o == nil:
				l = snapshot.Lookup{Coordinates: l.Coordinates, Outcome: snapshot.Absent}
			case m.Changed(g.Find(l.Object.UID)):
				found := *o
				found.Identity, found.Aliases = l.Object.Identity, l.Object.Aliases
				l.Object = &found
			}
		}
		now.Lookups = append(now.Lookups, l)
	}
	return &now
}

// describe returns a line per transition: pass, action, object and details.
func describe(c *simulate.Prediction) []string {
	out := []string{}
	for _, m := range c.Transitions {
		out = append(out, fmt.Sprintf("%d %s", m.Pass, collectortest.DescribeAction(m.StateBefore.Name, m.StateBefore, m.Decision)))
	}
	return out
}

// left returns a line per object that changed or is terminating in the final state.
func left(c *simulate.Prediction) []string {
	out := []string{}
	g := c.Model.Graph()
	for n := range g.Listed() {
		was, now := g.Object(graph.Node(n)), c.Model.Object(graph.Node(n))
		switch {
		case now == nil:
			out = append(out, was.Name+" gone")
		case now.Terminating():
			out = append(out, strings.TrimSpace(was.Name+" terminating "+strings.Join(now.Finalizers, ",")))
		case len(now.Owners) != len(was.Owners):
			out = append(out, was.Name+" unlinked")
		case c.Model.Changed(graph.Node(n)):
			out = append(out, was.Name+" changed")
		}
	}
	slices.Sort(out)
	return out
}
