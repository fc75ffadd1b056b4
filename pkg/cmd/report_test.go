package cmd

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

func TestReportRefusesToWriteToATerminal(t *testing.T) {
	var out, said bytes.Buffer
	code := Main(context.Background(), []string{"report", "--from", "../../docs/demo/cluster.json"}, cli.Streams{
		In: strings.NewReader(""), Out: &out, Err: &said, OutTerm: true, Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if want := "error: standard output is a terminal: name a file\nhint: kubectl gc report -o report.html --from ../../docs/demo/cluster.json\n"; code != cli.ExitUsage || said.String() != want {
		t.Errorf("it ends with %d and says %s", code, said.String())
	}
	if out.Len() > 0 {
		t.Errorf("%d bytes are written", out.Len())
	}
}
