package snapshot

import "slices"

// AcceptedGaps are the gaps that a person accepted, by name. A word is the name of a type
// as kubectl has it, RESOURCE or RESOURCE.GROUP, or that of a group, which accepts all of
// its types.
//
// Acceptance weakens two conclusions alone: that all dependents of an object were seen,
// and that everything in a Namespace or CustomResourceDefinition was listed. An owner that
// could not be verified stays unknown.
type AcceptedGaps []string

// Covers reports whether a gap is accepted. That whole groups are unknown is accepted by
// the name of the group alone, and that nothing is known by no word.
func (a AcceptedGaps) Covers(g Gap) bool { return a.by(g) != "" }

// by returns the word that accepts a gap, or none.
func (a AcceptedGaps) by(g Gap) string {
	for _, word := range []string{g.Group, g.Word()} {
		if word != "" && word != All && slices.Contains(a, word) {
			return word
		}
	}
	return ""
}

// Word returns the word that accepts the gap and no other, or none where no word does.
func (g Gap) Word() string {
	switch {
	case g.Group == All:
		return ""
	case g.Resource == All:
		return g.Group
	}
	return qualified(g.Resource, g.Group)
}

// Matching returns the words that accept any of the gaps, sorted, each once.
func (a AcceptedGaps) Matching(gaps []Gap) AcceptedGaps {
	var out AcceptedGaps
	for _, g := range gaps {
		if word := a.by(g); word != "" {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
