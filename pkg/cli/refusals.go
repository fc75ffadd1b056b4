package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// WarnOfRefusals warns of what the API server refuses, and says what a person may do about it.
func (s *ScanOptions) WarnOfRefusals(refusals []reason.WebhookRefuses) {
	for i, r := range refusals {
		fmt.Fprintf(s.Err, "warning: %s\n", escape.Sentence(r.Message()))
		if sentence, command := r.Remedy(); i+1 == len(refusals) || refusals[i+1].Configuration != r.Configuration {
			fmt.Fprintf(s.Err, "hint: %s: %s\n", escape.Sentence(sentence), s.SuggestKubectl(command[1:]...))
		}
	}
}

// warnOfRefusedWrites warns of writes of the plan, and of deletions that follow from them, that the API
// server refuses for lack of a webhook's backend.
func warnOfRefusedWrites(ctx context.Context, s *ScanOptions, now Planned) {
	p := now.Plan
	var writes []snapshot.Write
	for _, lost := range p.LostObjects() {
		if lost.By == nil || !lost.By.Object.IsCRD() || lost.By.Object.Identity == lost.Object { // instances are deleted without admission
			writes = append(writes, snapshot.Write{Object: lost.Object, Operation: "DELETE"})
		}
	}
	for i := range p.Steps {
		if p.Steps[i].Patch != nil {
			writes = append(writes, snapshot.Write{Object: p.Steps[i].Object.Identity, Operation: "UPDATE"})
		}
	}
	if len(p.Steps) == 0 || len(writes) == 0 {
		return
	}
	webhooks, _ := health.Webhooks(ctx, now.Cluster, now.Snapshot) // nothing is said of what may not be read
	s.WarnOfRefusals(now.Graph().View().Refusals(webhooks, writes))
}
