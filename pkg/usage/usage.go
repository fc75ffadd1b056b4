// Package usage finds who uses an object by its name, and what a deletion takes from those who are served: metadata
// does not show it, and the API server asks nobody.
package usage

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Usages are those of the objects of a graph, by UID, as far as they were read.
type Usages map[types.UID]object.Usage

// Users returns who uses the named objects: one reason for each object, workload and kind of use. What goes does not
// count, but for Pods that their workload recreates.
func Users(g *graph.Graph, read Usages, named []graph.Node, goes func(graph.Node) bool) []reason.UsedByOthers {
	type target struct {
		schema.GroupKind
		namespace, name string
	}
	targets := map[target]object.Identity{}
	for _, n := range named {
		o := g.Object(n)
		targets[target{o.GroupVersionKind().GroupKind(), o.Namespace, o.Name}] = o.Identity
	}
	type use struct {
		of, workload object.Identity
		as           object.UsedAs
	}
	at := map[use]int{}
	var out []reason.UsedByOthers
	for i := range g.Listed() {
		n, o := graph.Node(i), g.Object(graph.Node(i))
		u := read[o.UID]
		if len(named) == 0 || len(u.Uses) == 0 {
			continue
		}
		var workload object.Identity
		if above := Workload(g, n); o.IsPod() && above != n && !goes(above) {
			workload = g.Object(above).Identity
		}
		bare := workload.Kind == ""
		if bare && goes(n) || u.Ended && (bare || workload.Kind == "Job") {
			continue
		}
		counted := map[object.Identity]bool{}
		for _, by := range u.Uses {
			used, ok := targets[target{by.GroupKind, o.Namespace, by.Name}]
			if !ok {
				used, ok = targets[target{by.GroupKind, "", by.Name}]
			}
			if !ok || counted[used] {
				continue
			}
			counted[used] = true
			key := use{used, workload, by.As}
			k, known := at[key]
			if !known {
				k, at[key] = len(out), len(out)
				out = append(out, reason.UsedByOthers{Object: used, As: by.As, Workload: workload})
			}
			out[k].Users = append(out[k].Users, o.Identity)
		}
	}
	slices.SortStableFunc(out, func(a, b reason.UsedByOthers) int { return a.Object.Compare(b.Object) })
	return out
}

// tops are the kinds that a person knows a Pod by, whatever controls them.
var tops = []string{"CronJob", "DaemonSet", "Deployment", "StatefulSet"}

// maxControllers is how many controllers a Pod may have above each other.
const maxControllers = 8

// Workload returns what controls a Pod: the first of the tops, or else the highest of its controllers. It is the Pod
// itself, or another object, if nothing controls it.
func Workload(g *graph.Graph, n graph.Node) graph.Node {
	above := controllers(g, n)
	for _, n := range above {
		if slices.Contains(tops, g.Object(n).Kind) {
			return n
		}
	}
	return above[len(above)-1]
}

// controllers returns an object and the controllers above it, those of a cycle more than once.
func controllers(g *graph.Graph, n graph.Node) (out []graph.Node) {
	for len(out) <= maxControllers {
		out = append(out, n)
		o := g.Object(n)
		i := slices.IndexFunc(o.Owners, object.Reference.Controls)
		if i < 0 {
			break
		}
		n = g.Owners(n)[i]
		if owner := g.Object(n); owner == nil || !owner.MatchesIdentity(o.Owners[i], o.Namespace) {
			break
		}
	}
	return out
}

// Controls reports whether one of the objects is the Pod, or a controller above it.
func Controls(g *graph.Graph, objects graph.Set, pod graph.Node) bool {
	return slices.ContainsFunc(controllers(g, pod), objects.Has)
}

// PodsOf returns the Pods of a workload that are not being deleted.
func PodsOf(g *graph.Graph, workload graph.Node) []graph.Node {
	below := graph.NewSet(g)
	g.AddDescendants(below, graph.Unlimited, workload)
	return slices.DeleteFunc(below.Nodes(), func(n graph.Node) bool {
		o := g.Object(n)
		return o == nil || !o.IsPod() || o.Terminating() || Workload(g, n) != workload
	})
}

// maxSingle is how many Pods of a namespace are worth reading one by one.
const maxSingle = 8

// Serving returns what shows how many Pods of the same workloads as these are ready, and what protects them. What has a
// kind and a namespace alone stands for all such objects.
func Serving(g *graph.Graph, going graph.Set) (out []object.Identity) {
	known, pods := graph.NewSet(g), map[string][]object.Identity{}
	for _, pod := range going.Nodes() {
		if workload := Workload(g, pod); known.Add(workload) {
			for _, n := range PodsOf(g, workload) {
				o := g.Object(n)
				pods[o.Namespace] = append(pods[o.Namespace], o.Identity)
			}
		}
	}
	for namespace, all := range pods {
		if len(all) > maxSingle {
			all = []object.Identity{{APIVersion: "v1", Kind: object.Pod.Kind, Namespace: namespace}}
		}
		out = append(out, all...)
		out = append(out, object.Identity{APIVersion: "policy/v1", Kind: object.DisruptionBudget.Kind, Namespace: namespace})
	}
	return out
}

// ReadyPods returns of each workload how many of its ready Pods go, and the PodDisruptionBudgets that protect them.
// Pods without a workload count if a PodDisruptionBudget protects them, and workloads if all their Pods were read.
func ReadyPods(g *graph.Graph, read Usages, going graph.Set) (out []reason.ReadyPodsGo) {
	pods := going.Nodes()
	var budgets []graph.Node
	for i := range g.Listed() {
		if len(pods) > 0 && read[g.UID(graph.Node(i))].Budget != nil {
			budgets = append(budgets, graph.Node(i))
		}
	}
	done := graph.NewSet(g)
	for _, pod := range pods {
		workload := Workload(g, pod)
		if !done.Add(workload) {
			continue
		}
		r := reason.ReadyPodsGo{Workload: g.Object(workload).Identity}
		var gone []labels.Set
		unread := false
		for _, n := range PodsOf(g, workload) {
			u, known := read[g.UID(n)]
			unread = unread || !known
			if u.Ready {
				r.Ready++
				if going.Has(n) {
					gone = append(gone, u.Labels)
				}
			}
		}
		r.Deleted = len(gone)
		for _, n := range budgets {
			budget := read[g.UID(n)].Budget
			protects := func(pod labels.Set) bool { return budget.Selector.Matches(pod) }
			if g.Object(n).Namespace == g.Object(pod).Namespace && slices.ContainsFunc(gone, protects) {
				r.Budgets = append(r.Budgets, reason.Budget{Identity: g.Object(n).Identity, Allowed: budget.Allowed})
			}
		}
		if !unread && len(gone) > 0 && (workload != pod || len(r.Budgets) > 0) {
			out = append(out, r)
		}
	}
	return out
}

// ClaimsLeft returns of each StatefulSet the claims made for its Pods that stay without it: their names are a template of
// the set, its name and a number (kubernetes/kubernetes: pkg/controller/statefulset/stateful_set_utils.go,
// getPersistentVolumeClaimName).
func ClaimsLeft(g *graph.Graph, sets []graph.Node, goes func(graph.Node) bool, has func(set *object.Object, template string) bool) (out []reason.ClaimsStay) {
	var claims []object.Identity
	for i := range g.Listed() {
		if o := g.Object(graph.Node(i)); len(sets) > 0 && o.GroupVersionKind().GroupKind() == object.VolumeClaim && !goes(graph.Node(i)) {
			claims = append(claims, o.Identity)
		}
	}
	for _, n := range sets {
		set := g.Object(n)
		left := slices.DeleteFunc(slices.Clone(claims), func(claim object.Identity) bool {
			name := strings.TrimRight(claim.Name, "0123456789")
			template, ofSet := strings.CutSuffix(name, "-"+set.Name+"-")
			return claim.Namespace != set.Namespace || name == claim.Name || !ofSet || !has(set, template)
		})
		if len(left) > 0 {
			out = append(out, reason.ClaimsStay{Object: set.Identity, Claims: left})
		}
	}
	return out
}
