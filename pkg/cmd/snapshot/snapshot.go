// Package snapshot is the command kubectl gc snapshot.
package snapshot

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type snapshotFlags struct {
	scan *cli.ScanOptions
	file string // - is standard output
}

// New returns the command snapshot.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &snapshotFlags{scan: scan}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save one scan of the cluster to a file",
		Long: `Save one scan of the cluster to a file. All commands that read a cluster,
except doctor, controller and snapshot, accept it with --from FILE. collect,
delete, repair, restore and finalizer remove then only preview (--dry-run). A
file has no Events, and no READY or STATUS.

A snapshot has only metadata: names, labels, owner references, finalizers and
times. It has no spec, no status, no annotations and no content of a Secret. If
the name of the file ends in .gz, it is compressed.`,
		Example: cli.Examples(`
# The whole cluster
kubectl gc snapshot -o cluster.json.gz
kubectl gc audit --from cluster.json.gz

# One namespace, to another program
kubectl gc snapshot -n shop | kubectl gc tree --from -`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.Flags().Changed("output")) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "output", "o", "-", "File to write; - is standard output.")
	cli.CompleteFlag(cmd, "output", cli.CompleteFiles("json", "gz"))
	flags.BoolVarP(&f.scan.AllNamespaces, "all-namespaces", "A", false, "Scan all namespaces, which is the default.")
	flags.BoolVar(&f.scan.Strict, "strict", false, "Exit with 3 if anything could not be read.")
	return cmd
}

func (f *snapshotFlags) run(ctx context.Context, named bool) error {
	isFormat := slices.Contains(append(structured.Formats(), "wide", "sarif"), f.file)
	if err := cmp.Or(
		f.scan.Validate(),
		cli.WithCommandHint(cli.UsageIf(isFormat, "-o %s: snapshot writes a file, so -o names it", cli.Quote(f.file)), "for a format", "audit", "-o", "FORMAT"),
		cli.WithCommandHint(cli.UsageIf(!named && f.scan.OutTerm, "standard output is a terminal: name a file"), "for example", "snapshot", "-o", "cluster.json.gz"),
	); err != nil {
		return err
	}
	f.scan.NeedsCluster = true
	s, _, err := f.scan.ScanMetadata(ctx, f.scan.Everything(scan.Scope{Labels: true, Running: true}))
	if err != nil {
		return err
	}
	if err := f.write(s); err != nil {
		return err
	}
	f.scan.WarnOfGaps(s)
	if f.file != "-" {
		fmt.Fprintf(f.scan.Err, "saved %d objects of %d types to %s\n", len(s.Objects), len(s.Listed), cli.Quote(f.file))
	}
	return f.scan.StrictExit(s)
}

func (f *snapshotFlags) write(s *snapshot.Snapshot) error {
	save := cli.EscapeJSON(s.Save)
	if f.file == "-" {
		return save(f.scan.Out)
	}
	if strings.EqualFold(filepath.Ext(f.file), ".gz") { // some file systems ignore case
		save = compressed(save)
	}
	if err := cli.ReplaceFile(f.file, cli.PrivateFile, save); err != nil {
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
