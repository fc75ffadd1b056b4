package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var unverifiedOwner = Rule{
	ID:      "unverified-owner",
	Summary: "Whether the owner exists could not be found out.",
	find: eachCause(collector.Unverified, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		brief, why := Obstacle(s.judgements[i])
		return s.mended(i,
			fmt.Sprintf("%s: %s", r, brief),
			fmt.Sprintf("whether its owner %s exists is not known: %s", r, why))
	}),
}

// Obstacle says what kept an owner from being verified, in a few words and in
// full. It is for judgements whose cause is collector.Unverified.
func Obstacle(j collector.Judgement) (brief, why string) {
	switch {
	case j.Gap != nil && j.Gap.Reason == snapshot.NotInFile:
		return "not in the file", "the file does not hold its type"
	case j.Gap != nil && j.Gap.Reason == snapshot.Forbidden:
		return "may not list " + j.Gap.String(), fmt.Sprintf("listing %s is forbidden", j.Gap)
	case j.Gap != nil:
		return fmt.Sprintf("%s: %s", j.Gap, j.Gap.Reason), fmt.Sprintf("%s could not be read (%s)", j.Gap, j.Gap.Reason)
	case j.Lookup != nil && j.Lookup.Reason == snapshot.BadName:
		return "an impossible name", "no object can have this name, so it was not asked for"
	case j.Lookup != nil:
		return string(j.Lookup.Reason), fmt.Sprintf("asking for it failed (%s): %s", j.Lookup.Reason, j.Lookup.Message)
	}
	return "nobody looked", "its type was not part of this look"
}
