// Package snapshot is the command kubectl gc snapshot.
package snapshot

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type snapshotFlags struct {
	scan   *cli.ScanOptions
	output string
}

// New returns the command snapshot.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &snapshotFlags{scan: scan}
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Save one scan of the cluster to a file",
		Long: `Save one scan of the cluster to a file. Every reading command accepts it with
--from FILE, and answers as it would have answered live.

A snapshot holds metadata only: names, labels, owner references, finalizers and
times. It holds no spec, no status, no annotations and nothing of a Secret but
its name. A name that ends in .gz is compressed.`,
		Example: cli.Examples(`
# The whole cluster
kubectl gc snapshot -o cluster.json.gz
kubectl gc audit --from cluster.json.gz

# One namespace, to standard output
kubectl gc snapshot -n shop -o -`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "the file to write; - is standard output")
	flags.BoolVarP(&f.scan.AllNamespaces, "all-namespaces", "A", false, "scan all namespaces, which is the default")
	flags.BoolVar(&f.scan.Strict, "strict", false, "exit with 3 if anything could not be read")
	cli.CompleteFlag(cmd, "output", cli.CompleteFiles("json", "gz"))
	return cmd
}

func (f *snapshotFlags) run(ctx context.Context) error {
	noFile := cli.UsageIf(f.output == "", "-o needs a file name")
	if err := cmp.Or(f.scan.Validate(), cli.WithHelp(noFile, cli.CommandName+" snapshot")); err != nil {
		return err
	}
	f.scan.NeedsCluster = true
	s, _, err := f.scan.Scan(ctx, f.scan.Everything(scan.Scope{Labels: true, Running: true}))
	if err != nil {
		return err
	}
	if err := f.write(s); err != nil {
		return err
	}
	f.scan.WarnOfGaps(s)
	if f.output != "-" {
		fmt.Fprintf(f.scan.Err, "saved %d objects of %d types to %s\n", len(s.Objects), len(s.Listed), cli.Quote(f.output))
	}
	return f.scan.StrictExit(s)
}

func (f *snapshotFlags) write(s *snapshot.Snapshot) error {
	save := cli.EscapeJSON(s.Save)
	if f.output == "-" {
		return save(f.scan.Out)
	}
	if strings.EqualFold(filepath.Ext(f.output), ".gz") { // some file systems ignore case
		save = compressed(save)
	}
	if err := cli.ReplaceFile(f.output, cli.PrivateFile, save); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// compressed returns save with its output compressed.
func compressed(save func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		zip := gzip.NewWriter(w)
		if err := save(zip); err != nil {
			return err
		}
		return zip.Close()
	}
}
