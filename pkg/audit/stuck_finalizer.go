package audit

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// DefaultStuckAfter is how long a terminating object may wait for a foreign
// finalizer before somebody should look.
const DefaultStuckAfter = 10 * time.Minute

var stuckFinalizer = Rule{
	ID:      "stuck-finalizer",
	Summary: "An object has long been terminating and waits for a finalizer that is not the collector's.",
	find: func(s objectContext) []Finding {
		held := s.object.ForeignFinalizers()
		if !s.object.Terminating() || len(held) == 0 || s.now().Sub(*s.object.Deleted) <= s.rules.options.StuckAfter {
			return nil
		}
		return []Finding{{
			Severity: Warning, Object: s.object.Identity, Consequence: collector.ConsequenceNone, Fix: NoFix, Effect: reason.WaitsForController{},
			Reason: reason.FinalizerStuck{Finalizers: held, Since: reason.Since{Deleted: *s.object.Deleted, Scanned: s.now()}},
		}}
	},
}
