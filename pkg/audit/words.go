package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// foretell says in a sentence what the collector does with the object.
func (s sight) foretell(c collector.Consequence) string {
	switch c {
	case collector.Delete:
		return "the collector will delete this object"
	case collector.Unlink:
		return fmt.Sprintf("the collector will drop this reference and keep the object, which has %s left", owners(s.owned()))
	case collector.Stuck:
		return "the collector can never decide, and leaves the object alone for ever"
	case collector.Hidden:
		return "what the collector will do cannot be told from here"
	case collector.None:
	}
	if s.object.Terminating() {
		return "the object is being deleted already, so the collector does nothing about it"
	}
	return "the collector does nothing about it"
}

// effect says the same in the few words of a table cell.
func (s sight) effect(c collector.Consequence) string {
	switch c {
	case collector.Delete:
		return "deletes it"
	case collector.Unlink:
		if n := s.owned(); n == 1 {
			return "drops the reference, 1 owner remains"
		} else {
			return fmt.Sprintf("drops the reference, %d owners remain", n)
		}
	case collector.Stuck:
		return "can never decide"
	case collector.Hidden:
		return "unknown"
	case collector.None:
	}
	if s.object.Terminating() {
		return "nothing: it is being deleted"
	}
	return "nothing"
}

func owners(n int) string {
	if n == 1 {
		return "1 owner"
	}
	return fmt.Sprintf("%d owners", n)
}

// place names where an object lives: "namespace x", or "no namespace".
func place(i object.Identity) string {
	if i.Namespace == "" {
		return "no namespace: it is cluster-scoped"
	}
	return "namespace " + i.Namespace
}
