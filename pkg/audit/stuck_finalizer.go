package audit

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// DefaultStuckAfter is how long a terminating object may wait for a finalizer that is not
// the garbage collector's before it is reported.
const DefaultStuckAfter = 10 * time.Minute

var stuckFinalizer = Rule{
	ID:      "stuck-finalizer",
	Summary: "An object has long been terminating and waits for a finalizer that is not the collector's.",
	find: func(o objectContext) []Finding {
		held := o.object.ForeignFinalizers()
		if !o.object.Terminating() || len(held) == 0 || o.rules.graph.Snapshot().Taken.Sub(*o.object.Deleted) <= o.rules.options.StuckAfter {
			return nil
		}
		by := o.rules.model().HeldBy(o.node)
		found := reason.FinalizerStuck{HeldByFinalizers: by, Traces: o.rules.traces.All(held, o.object.Identity)}
		by.Since = reason.Since{} // said of the object itself
		return []Finding{{
			Severity: Warning, Object: o.object.Identity, Consequence: collector.ConsequenceNone, Fix: NoFix, Effect: reason.WaitsForController,
			Reason: found, Blocker: by, Cause: heldBy(held),
		}}
	},
}
