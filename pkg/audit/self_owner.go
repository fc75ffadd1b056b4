package audit

import "github.com/kubectl-gc/kubectl-gc/pkg/collector"

var selfOwner = Rule{
	ID:      "self-owner",
	Summary: "An object names itself as its owner.",
	find: func(s sight) []Finding {
		var out []Finding
		for i, r := range s.object.Owners {
			if r.UID != s.object.UID {
				continue
			}
			f := s.on(i, "it owns itself", "it names itself as its owner", Unlink)
			if f.Verdict == collector.Solid && !s.object.Terminating() {
				f.Severity, f.Consequence, f.Effect = Error, collector.Stuck, "never collects it"
				f.Message = "it names itself as its owner, so the collector never collects it; a foreground deletion of it would never end if the reference blocks"
			}
			if r.Blocks() && s.object.DeletingDependents() { // gc-semantics 10.1a
				f.Severity, f.Consequence, f.Effect = Error, collector.Stuck, "never ends its deletion"
				f.Message = "it names itself as its owner and is being deleted in the foreground, so it waits for itself to go, and its deletion never ends"
			}
			out = append(out, f)
		}
		return out
	},
}
