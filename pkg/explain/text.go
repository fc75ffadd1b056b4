package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxNames is how many names one sentence lists.
const maxNames = 4

func list(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// name returns Kind/name, with the namespace if it is another than at.
func name(i object.Identity, at string) string {
	if i.Namespace == "" || i.Namespace == at {
		return i.String()
	}
	return i.String() + " in namespace " + i.Namespace
}

func (b *answerBuilder) name(n graph.Node) string {
	return name(b.graph.Object(n).Identity, b.object.Namespace)
}

// inNamespace returns where an owner of that kind would have to be.
func inNamespace(m snapshot.Mapping, dependent object.Identity) string {
	if m.Type.Namespaced {
		return " in namespace " + dependent.Namespace
	}
	return ""
}

func (e *Explainer) since(at time.Time) string {
	return duration.HumanDuration(e.graph.Snapshot().Taken.Sub(at))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Arguments returns the command-line arguments that select an object.
func Arguments(g *graph.Graph, i object.Identity) []string {
	words := []string{TypeArgument(g, i.APIVersion, i.Kind) + "/" + i.Name}
	if i.Namespace != "" {
		words = append(words, "-n", i.Namespace)
	}
	return words
}

func (e *Explainer) arguments(i object.Identity) []string { return Arguments(e.graph, i) }

// TypeArgument returns what selects a type on a command line: its kind, unless that also
// means another type.
func TypeArgument(g *graph.Graph, apiVersion, kind string) string {
	word := strings.ToLower(kind)
	if m, ok := g.View().Map(apiVersion, kind); ok {
		if found := snapshot.Find(g.Snapshot().Types, word); len(found) == 0 || found[0].GroupResource() != m.Type.GroupResource() {
			return m.Type.String()
		}
	}
	return word
}

// command returns a command line of this program about an object.
func (e *Explainer) command(command string, i object.Identity, flags ...string) []string {
	return plugin.Line(slices.Concat([]string{command}, e.arguments(i), flags)...)
}
