package reason

import (
	"fmt"
	"strings"
)

// ControllerTraces is what a scan shows of the controllers of a DNS domain, such as the one in the
// name of a finalizer. It is evidence, and no proof: a controller may run without any of these, and
// these may outlive their controller.
type ControllerTraces struct {
	Domain string `json:"domain"`
	Own    bool   `json:"own,omitempty"` // the type of the object itself is of the domain, which is no trace
	// Found are a few of the types, APIServices, webhook configurations and workloads of the domain, and More counts
	// the others.
	Found   []string `json:"found,omitempty"`
	More    int      `json:"more,omitempty"`
	Active  []string `json:"active,omitempty"`  // what the controller did in the last hour
	Watched bool     `json:"watched,omitempty"` // that was looked for
	Unread  []Gap    `json:"unread,omitempty"`  // if there are no traces: what may hide some
}

// Any reports whether there are any traces.
func (t ControllerTraces) Any() bool { return len(t.Found)+len(t.Active) > 0 }

// NothingFound reports that everything was read, and shows no trace.
func (t ControllerTraces) NothingFound() bool { return !t.Any() && len(t.Unread) == 0 }

// Sentence returns the traces as whole sentences, without the last full stop.
func (t ControllerTraces) Sentence() string {
	nothing := "nothing of " + t.Domain
	if t.Own {
		nothing = "nothing else of " + t.Domain
	}
	switch {
	case len(t.Active) > 0:
		return fmt.Sprintf("The controller of %s was active in the last hour: %s", t.Domain, first(2, t.Active, ", ", "%d more", strings.Clone))
	case t.Any():
		found := strings.Join(t.Found, ", ")
		if t.More > 0 {
			found += fmt.Sprintf(" and %d more", t.More)
		}
		return fmt.Sprintf("The controller of %s may still be installed: found %s. This tool cannot see whether it runs", t.Domain, found)
	case len(t.Unread) > 0:
		return fmt.Sprintf("Found %s, but could not read everything: %s", nothing, listGaps(t.Unread))
	}
	looked := "no type, APIService, webhook or Deployment"
	if t.Watched {
		looked += "; no write, Event or Lease in the last hour"
	}
	return fmt.Sprintf("N%s is installed (%s): its controller may be gone", nothing[1:], looked)
}
