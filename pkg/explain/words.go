package explain

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// most is how many names one sentence lists.
const most = 4

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func listed(names []string) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// name is Kind/name, with the namespace where that is not the one at hand.
func name(i object.Identity, at string) string {
	if i.Namespace == "" || i.Namespace == at {
		return i.String()
	}
	return i.String() + " in namespace " + i.Namespace
}

func (s *subject) name(n graph.Node) string {
	return name(s.graph.Object(n).Identity, s.object.Namespace)
}

// place is where an owner of that kind would have to live.
func place(m snapshot.Mapping, dependent object.Identity) string {
	if m.Type.Namespaced {
		return " in namespace " + dependent.Namespace
	}
	return ""
}

func (v *Explainer) since(at time.Time) string {
	return duration.HumanDuration(v.graph.Snapshot().Taken.Sub(at))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// target names an object as a command line does: its flags, too.
func (v *Explainer) target(i object.Identity) []string {
	words := []string{Word(v.graph, i.APIVersion, i.Kind) + "/" + i.Name}
	if i.Namespace != "" {
		words = append(words, "-n", i.Namespace)
	}
	return words
}

// Word is what a command line calls a type: its kind, where that means no other one.
func Word(g *graph.Graph, apiVersion, kind string) string {
	word := strings.ToLower(kind)
	if m, ok := g.View().Map(apiVersion, kind); ok {
		if found := snapshot.Find(g.Snapshot().Types, word); len(found) == 0 || found[0].GroupResource() != m.Type.GroupResource() {
			return m.Type.String()
		}
	}
	return word
}

// gc is a command line of this program about an object.
func (v *Explainer) gc(command string, i object.Identity, flags ...string) []string {
	return append(append(plugin.Line(command), v.target(i)...), flags...)
}
