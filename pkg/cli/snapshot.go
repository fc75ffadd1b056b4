package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type snapshotFlags struct {
	*source
	output string
}

func newSnapshot(from *source) *cobra.Command {
	f := &snapshotFlags{source: from}
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Save one scan of the cluster to a file",
		Long: `Save one scan of the cluster to a file. Every reading command accepts it with
--from FILE, and answers as it would have answered live.

A snapshot holds metadata only: names, labels, owner references, finalizers and
times. It holds no spec, no status, no annotations and nothing of a Secret but
its name. A name that ends in .gz is compressed.`,
		Example: examples(`
# The whole cluster
kubectl gc snapshot -o cluster.json.gz
kubectl gc audit --from cluster.json.gz

# One namespace, to standard output
kubectl gc snapshot -n shop -o -`),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "the file to write; - is standard output")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "scan all namespaces, which is the default")
	flags.BoolVar(&f.strict, "strict", false, "exit with 3 if anything could not be read")
	completeFlag(cmd, "output", completeFiles("json", "gz"))
	f.completeFlags(cmd)
	return cmd
}

func (f *snapshotFlags) run(ctx context.Context) error {
	if err := f.validate(); err != nil {
		return err
	}
	if f.output == "" {
		return &usage{err: errors.New("-o needs a file name"), command: called + " snapshot"}
	}
	s, _, err := f.look(ctx, f.whole(cluster.Scope{Labels: true, Running: true}))
	if err != nil {
		return err
	}
	if err := f.write(s); err != nil {
		return err
	}
	f.warnOfGaps(s)
	if f.output != "-" {
		fmt.Fprintf(f.Err, "saved %d objects of %d types to %s\n", len(s.Objects), len(s.Listed), quoted(f.output))
	}
	if f.strict && !s.Complete() {
		return status(exitIncomplete)
	}
	return nil
}

func (f *snapshotFlags) write(s *snapshot.Snapshot) error {
	save := escaped(s.Save)
	if f.output == "-" {
		return save(f.Out)
	}
	if strings.EqualFold(filepath.Ext(f.output), ".gz") { // capitals make no difference to some file systems
		save = compressed(save)
	}
	if err := replace(f.output, private, save); err != nil {
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
