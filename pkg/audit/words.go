package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// foretell says in a sentence what the collector does with the object because
// of its i-th reference.
func (s sight) foretell(i int, c collector.Consequence) string {
	switch c {
	case collector.Delete:
		return "the collector will delete this object"
	case collector.Unlink:
		return "the collector will drop this reference and keep the object, " + s.left()
	case collector.Stuck:
		return s.stuck(i)
	case collector.Hidden:
		return "what the collector will do cannot be told from here"
	case collector.None:
	}
	if s.object.Terminating() {
		return "the object is being deleted already, so the collector does nothing about it"
	}
	return "the collector does nothing about it"
}

// stuck names what keeps the collector from deciding, and what it would do
// without: whoever mends the one should know of the other.
func (s sight) stuck(i int) string {
	culprit := s.outlook.Culprit
	if culprit == i {
		return "as long as that is so, the collector cannot decide and leaves the object alone"
	}
	would := "delete this object"
	if s.outlook.Decided() == collector.Unlink {
		would = "drop this reference"
	}
	because := fmt.Sprintf("because of the object's reference to %s, the collector cannot decide and leaves the object alone", s.object.Owners[culprit])
	if s.judgements[i].Verdict == collector.Dangling {
		because += "; once that is mended, it may " + would
	}
	return because
}

func (s sight) left() string {
	text := fmt.Sprintf("which has %s left", owners(s.outlook.Left))
	if s.outlook.Left == 0 {
		text += " and is never collected then"
	}
	return text
}

func owners(n int) string {
	switch n {
	case 0:
		return "no owner"
	case 1:
		return "1 owner"
	}
	return fmt.Sprintf("%d owners", n)
}

// effect says the same in the few words of a table cell.
func (s sight) effect(c collector.Consequence) string {
	switch c {
	case collector.Delete:
		return "deletes it"
	case collector.Unlink:
		return "drops the reference, " + s.remains()
	case collector.Stuck:
		return "cannot decide, leaves it"
	case collector.Hidden:
		return "unknown"
	case collector.None:
	}
	if s.object.Terminating() {
		return "nothing: it is being deleted"
	}
	return "nothing"
}

func (s sight) remains() string {
	if s.outlook.Left > 1 {
		return owners(s.outlook.Left) + " remain"
	}
	return owners(s.outlook.Left) + " remains"
}

// place names where an object lives: "namespace x", or "no namespace".
func place(i object.Identity) string {
	if i.Namespace == "" {
		return "no namespace: it is cluster-scoped"
	}
	return "namespace " + i.Namespace
}
