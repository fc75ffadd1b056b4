package oracle

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// maxReductions limits how many smaller scenarios Minimize tries.
const maxReductions = 400

// Minimize returns the finding in a smaller scenario: it removes lines, words and flags of its text
// while the same command disagrees in the same class, about the same aspect of the same object. An
// error of Ask ends it early.
func (c Checker) Minimize(ctx context.Context, f Finding) (Finding, error) {
	c.Only = f.Command
	for tried := 0; ; {
		reduced := false
		for _, s := range reductions(f.Scenario) {
			if tried++; tried > maxReductions {
				return f, nil
			}
			result, err := c.Check(ctx, s, f.Seed)
			if err != nil {
				return f, err
			}
			i := slices.IndexFunc(result.Findings, func(other Finding) bool {
				return other.Same(f.Disagreement) && len(Format(other.Scenario)) < len(Format(f.Scenario))
			})
			if i >= 0 {
				f, reduced = result.Findings[i], true
				break
			}
		}
		if !reduced {
			return f, nil
		}
	}
}

// required has the attributes that can be left out, and how many values each has at least.
var required = map[string]int{"owner": 4, "finalizers": 0, "pod": 1, "deleted": 1, "also": 1}

// reductions returns the scenarios that lack one thing, the largest first.
func reductions(s scenario.Scenario) []scenario.Scenario {
	var out []scenario.Scenario
	try := func(lines []string) {
		if smaller, err := Parse(strings.Join(lines, "\n")); err == nil && consistent(smaller) {
			out = append(out, smaller)
		}
	}
	lines := strings.Split(strings.TrimSpace(Format(s)), "\n")
	replaced := func(at int, line string) []string {
		changed := slices.Clone(lines)
		changed[at] = line
		return changed
	}
	for i, line := range lines {
		if words := strings.Fields(line); words[0] == "object" {
			try(withoutObject(lines, i, words[4]))
		}
		try(replaced(i, ""))
	}
	for i, line := range lines {
		words := strings.Fields(line)
		for j, word := range words {
			key, value, _ := strings.Cut(word, "=")
			least, reducible := required[key]
			if !reducible {
				continue
			}
			try(replaced(i, strings.Join(slices.Delete(slices.Clone(words), j, j+1), " ")))
			values := strings.Split(value, ",")
			for k := range values {
				if k >= least && len(values) > 1 {
					words := slices.Clone(words)
					words[j] = key + "=" + strings.Join(slices.Delete(slices.Clone(values), k, k+1), ",")
					try(replaced(i, strings.Join(words, " ")))
				}
			}
		}
	}
	return out
}

// withoutObject returns the lines without the one at an index, an object, without its deletion, and
// without the references to it.
func withoutObject(lines []string, at int, uid string) []string {
	var out []string
	for i, line := range lines {
		words := strings.Fields(line)
		if i == at || words[0] == "delete" && words[1] == uid || words[0] == "refuse" && words[2] == uid {
			continue
		}
		out = append(out, strings.Join(slices.DeleteFunc(words, func(word string) bool {
			values := strings.Split(word, ",")
			return strings.HasPrefix(word, "owner=") && values[3] == uid
		}), " "))
	}
	return out
}

// consistent reports whether every object has a type, every deletion an object, and something holds
// every terminating object.
func consistent(s scenario.Scenario) bool {
	objects := byUID(s.Objects)
	for i := range s.Objects {
		o := &s.Objects[i]
		stopping := o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0
		held := len(o.Finalizers) > 0 || len(o.SpecFinalizers) > 0 || stopping
		switch deleted := o.DeletionTimestamp != nil; {
		case typeOf(s.Types, o).Kind == "" || deleted && !held:
			return false
		case !deleted && (stopping || o.Pod != nil && o.Pod.NodeLost):
			return false
		case deleted && o.Kind == definition.Kind && !slices.Contains(o.Finalizers, cleanupFinalizer):
			return false
		}
	}
	return !slices.ContainsFunc(s.Deletes, func(d scenario.Delete) bool { return objects[types.UID(d.UID)] == nil })
}
