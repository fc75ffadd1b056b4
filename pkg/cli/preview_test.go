package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestPreviewLimit(t *testing.T) {
	for name, c := range map[string]struct {
		mode              plan.Mode
		terminal, errTerm bool
		height            int
		format            string
		toErr             bool
		want              int
	}{
		"a terminal":                              {plan.Collect, true, true, 49, "table", false, 98},
		"one whose height is unknown":             {plan.Collect, true, true, 0, "table", false, 80},
		"a very large one":                        {plan.Collect, true, true, 2000, "table", false, 1000},
		"-o wide":                                 {plan.Collect, true, true, 10, "wide", false, 0},
		"no terminal":                             {plan.Collect, false, true, 10, "table", false, 1000},
		"the preview beside a machine format":     {plan.Collect, false, true, 10, "json", true, 20},
		"the same where there is no terminal":     {plan.Collect, true, false, 10, "json", true, 1000},
		"a repair, whose lines have their reason": {plan.Repair, true, true, 10, "table", false, 1000},
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
			if got := previewLimit(options, &plan.Plan{Mode: c.mode}, out); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestALongPreviewOnATerminalCountsTheKinds(t *testing.T) {
	parts := []st.Part{st.Absent("v1", "Node", "gone")}
	for i := range 100 {
		parts = append(parts, st.Listing(st.Secret(fmt.Sprintf("a/x%02d", i), st.OwnedBy(st.Node("gone")))))
	}
	p := plan.New(collector.NewJudge(graph.New(st.New(parts...))), plan.CollectPurpose(nil))
	for height, cut := range map[int]bool{49: true, 50: false} {
		options, _, _ := offline(t)
		out := &bytes.Buffer{}
		options.Scan.Out, options.Scan.OutTerm, options.Scan.Height = out, true, func() int { return height }
		options.Scan.Getenv, options.Scan.OutWidth = func(string) string { return "" }, func() int { return 0 }
		options.Output.Format = "table"
		if err := preview(options, p, nil); err != nil {
			t.Fatal(err)
		}
		for words, want := range map[string]bool{"\nDeletes: Secret 100; ": cut, "… and 2 more lines: to see every line, use -o wide\n": cut, "Secret/x99": !cut} {
			if strings.Contains(out.String(), words) != want {
				t.Errorf("%d lines: it has %q: %t\n%s", height, words, !want, out)
			}
		}
	}
}
