package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/mend"
)

// whyMended says in a few words what a step of a repair does, and why.
func whyMended(move *collector.Move, s Step) string {
	if s.Action == collector.Detach {
		return sentence(unlinks(s)) + "; " + keeps(move)
	}
	var said []string
	for i, r := range s.References {
		owner, becomes := r.Kind+"/"+r.Name, s.Mends[i].Becomes
		switch {
		case s.Action == Reversion:
			said = append(said, fmt.Sprintf("%s is named in %s, which is not served: in %s from now on", owner, r.APIVersion, becomes.APIVersion))
		case becomes.APIVersion != r.APIVersion:
			said = append(said, fmt.Sprintf("%s has another UID now, and is served in %s: points at that one", owner, becomes.APIVersion))
		default:
			said = append(said, owner+" has another UID now: points at that one")
		}
	}
	return sentence(said)
}

func unlinks(s Step) []string {
	out := make([]string, len(s.References))
	for i, r := range s.References {
		why := r.Evidence
		switch m := s.Mends[i]; {
		case m.Chosen:
			why += ", and is given up"
		case m.Fix == mend.Unlink && m.Why != "":
			why = m.Why
		}
		out[i] = fmt.Sprintf("%s/%s %s", r.Kind, r.Name, why)
	}
	return out
}

// keeps says what keeps an object that loses references.
func keeps(move *collector.Move) string {
	switch left := len(move.Before.Owners) - len(move.Change.Drop); {
	case move.Before.Terminating():
		return "its own deletion goes on"
	case left == 0:
		return "keeps it, and nothing will ever collect it"
	case holding(move) == 0:
		return "its other references stay as they are"
	}
	return remaining(move)
}

func holding(move *collector.Move) (n int) {
	for i, v := range move.Verdicts {
		if v == collector.Solid && !move.Change.Drops(i) {
			n++
		}
	}
	return n
}

// otherwise says what the collector would do without the repair.
func otherwise(c collector.Consequence) string {
	switch c {
	case collector.Delete:
		return " (the collector would delete it otherwise)"
	case collector.Unlink:
		return " (the collector would drop the reference otherwise)"
	case collector.Stuck:
		return " (the collector cannot decide on it otherwise)"
	case collector.Hidden, collector.None:
	}
	return ""
}

// sentence puts facts in a row, the first few of them.
func sentence(facts []string) string {
	if more := len(facts) - mostNamed; more > 0 {
		facts = append(append([]string{}, facts[:mostNamed]...), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(facts, "; ")
}
