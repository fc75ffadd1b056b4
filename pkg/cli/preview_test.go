package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestAPlanWithMoreLinesThanTheTerminalIsShownAsTotals(t *testing.T) {
	parts := []st.Part{st.Absent("v1", "Node", "gone")}
	for i := range 50 {
		parts = append(parts, st.Listing(st.Secret(fmt.Sprintf("a/x%d", i), st.OwnedBy(st.Node("gone")))))
	}
	whole := plan.New(collector.NewJudge(graph.New(st.New(parts...))), plan.Options{Mode: plan.Collect})
	repaired := *whole
	repaired.Mode = plan.Repair
	for name, c := range map[string]struct {
		plan              *plan.Plan
		terminal, errTerm bool
		height            int
		format            string
		toErr, totals     bool
	}{
		"a small terminal":                        {whole, true, true, 49, "table", false, true},
		"a large one":                             {whole, true, true, 50, "table", false, false},
		"one whose height is unknown":             {whole, true, true, 0, "table", false, true},
		"-o wide":                                 {whole, true, true, 10, "wide", false, false},
		"no terminal":                             {whole, false, true, 10, "table", false, false},
		"the preview beside a machine format":     {whole, false, true, 10, "json", true, true},
		"the same where there is no terminal":     {whole, true, false, 10, "json", true, false},
		"a repair, whose lines have their reason": {&repaired, true, true, 10, "table", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			options, _, stderr := offline(t)
			stdout := &bytes.Buffer{}
			options.Scan.Out, options.Scan.Err, options.Scan.OutTerm, options.Scan.ErrTerm = stdout, stderr, c.terminal, c.errTerm
			options.Scan.Height = func() int { return c.height }
			options.Output.Format = c.format
			out := stdout
			if c.toErr {
				out = stderr
			}
			if err := writePlan(options, c.plan, out, color.New(color.Never, false, false)); err != nil {
				t.Fatal(err)
			}
			if totals := strings.Contains(out.String(), "\ndelete  Secret  50       a\n"); totals != c.totals || strings.Contains(out.String(), "Secret/x49") == totals {
				t.Errorf("totals: %t\n%s", totals, out)
			}
		})
	}
}
