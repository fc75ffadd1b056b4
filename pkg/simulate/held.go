package simulate

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// promptly is how long a controller of Kubernetes may take to remove a finalizer that it may remove.
// One that takes longer does not work, so a simulation does not rely on it.
const promptly = time.Minute

// dueFinalizers returns, for the terminating objects of the scan, a finalizer that its controller may
// remove at once. The model must be in its first state.
func (m *Model) dueFinalizers() map[graph.Node]string {
	due := map[graph.Node]string{}
	var c *finalizerControllers
	for i := range m.graph.Listed() {
		n, o := graph.Node(i), m.now[i]
		if !o.Terminating() || o.InGracePeriod() || o.Contested || len(o.ForeignFinalizers()) == 0 || m.graph.Snapshot().RefusesRemoval(o) {
			continue
		}
		if c == nil {
			c = newFinalizerControllers(&simulation{model: m})
		}
		if k := c.removable(n); k >= 0 {
			due[n] = o.Finalizers[k]
		} else if o.IsCRD() && slices.Contains(o.Finalizers, DefinitionFinalizer) && len(m.ContentsOf(n))+len(m.ContentsGaps(n)) == 0 {
			due[n] = DefinitionFinalizer
		}
	}
	return due
}

// late reports whether the controller of a finalizer could have removed it well before the scan, and
// did not.
func (m *Model) late(n graph.Node, finalizer string) bool {
	return m.due[n] == finalizer && finalizer != "" && m.taken.Sub(*m.graph.Object(n).Deleted) > promptly
}

// HeldBy returns what the foreign finalizers of an object wait for, as far as the scan shows it.
func (m *Model) HeldBy(n graph.Node) reason.HeldByFinalizers {
	out := reason.HeldByFinalizers{Finalizers: m.Object(n).ForeignFinalizers(), Since: m.Since(n)}
	if f := m.due[n]; slices.Contains(out.Finalizers, f) {
		controller, _, _ := FinalizerController(f)
		out.Due = &reason.DueFinalizer{Finalizer: f, Controller: controller, Late: m.late(n, f)}
	}
	out.InUse = m.InUse(n, out.Finalizers...)
	return out
}

// Since returns how long a deletion had been under way at the time of the scan.
func (m *Model) Since(n graph.Node) reason.Since {
	if o := m.graph.Object(n); o.Terminating() {
		return reason.Since{Deleted: *o.Deleted, Scanned: m.graph.Snapshot().Taken}
	}
	return reason.Since{}
}
