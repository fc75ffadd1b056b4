package audit

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// DefaultStuckAfter is how long a terminating object may wait for a foreign
// finalizer before somebody should look.
const DefaultStuckAfter = 10 * time.Minute

var stuckFinalizer = Rule{
	ID:      "stuck-finalizer",
	Summary: "An object has long been terminating and waits for a finalizer that is not the collector's.",
	find: func(s sight) []Finding {
		held := s.object.ForeignFinalizers()
		if !s.object.Terminating() || len(held) == 0 || s.now().Sub(*s.object.Deleted) <= s.options.StuckAfter {
			return nil
		}
		by, since := strings.Join(held, ", "), duration.HumanDuration(s.now().Sub(*s.object.Deleted))
		return []Finding{{
			Severity: Warning, Object: s.object.Identity, Consequence: collector.None, Fix: NoFix,
			Brief:   fmt.Sprintf("terminating %s, held by %s", since, by),
			Effect:  "waits for whoever set it",
			Message: fmt.Sprintf("it has been terminating since %s and is held by %s; the collector never removes a finalizer that is not its own", s.object.Deleted.Format(time.RFC3339), by),
		}}
	},
}
