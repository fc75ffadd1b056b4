package cli

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// Settle waits, reads the pending objects of the report of a scan again, and leaves out those
// that the garbage collector has processed. It does not wait if none is pending.
func (s *ScanOptions) Settle(ctx context.Context, live *client.Client, g *graph.Graph, report *audit.Report, after time.Duration) error {
	pending := report.Pending()
	if len(pending) == 0 {
		report.Settle(nil, after)
		return nil
	}
	s.Progress("waiting %s to read %s again", after, wording.Count(len(pending), "object"))
	defer s.Progress("")
	if err := client.Wait(ctx, after); err != nil {
		return err
	}
	reader := scan.NewObjectReader(live, g.Snapshot())
	answers, err := client.InParallel(ctx, live.Config.SmallConcurrency, pending, func(o object.Identity) audit.Reread {
		now, err := reader.ReadState(ctx, g.View(), o)
		return audit.Reread{Object: now, Failed: err}
	})
	if err != nil {
		return err
	}
	again := make(map[object.Identity]audit.Reread, len(pending))
	for i, o := range pending {
		again[o] = answers[i]
	}
	report.Settle(again, after)
	return nil
}
