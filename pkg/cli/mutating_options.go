package cli

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MutatingOptions are the options of every command that changes something.
type MutatingOptions struct {
	Scan         *ScanOptions
	Flags        MutationFlags
	Output       *OutputFlags
	AcceptedGaps snapshot.AcceptedGaps // of --accept-gap

	command       string         // its name
	given         *pflag.FlagSet // the command line, for rerunCommand
	args          []string
	writers       int            // how many writes are in flight; 0: as --concurrency says
	writeDocument DocumentWriter // nil for table and jsonl
}

// jsonLines is the format in which events are written as they happen.
const jsonLines = "jsonl"

func NewMutatingOptions(command string, scan *ScanOptions) *MutatingOptions {
	return &MutatingOptions{Scan: scan, Output: NewOutputFlags("table", jsonLines), command: command}
}

// AddFlags adds the flags of a command that deletes or changes objects.
func (o *MutatingOptions) AddFlags(cmd *cobra.Command) {
	o.AddCreatingFlags(cmd)
	o.Flags.addBackupFlags(cmd)
}

// AddCreatingFlags adds the flags of a command that only creates objects.
func (o *MutatingOptions) AddCreatingFlags(cmd *cobra.Command) {
	o.Scan.AddReadingFlags(cmd)
	o.Flags.addConfirmFlags(cmd)
	o.Output.AddFlags(cmd)
}

// defaultWriters is how many writes are in flight unless --concurrency is given. Upstream's
// garbage collector has 20 workers (--concurrent-gc-syncs). With more, the API server
// spends less on each write (docs/performance-acting.md), and it queues or rejects what is
// too much for it.
const defaultWriters = 64

// Complete takes over and validates the command line, before any request to a cluster.
func (o *MutatingOptions) Complete(cmd *cobra.Command, args []string) error {
	o.given, o.args = cmd.Flags(), args
	if !o.given.Changed("concurrency") {
		o.writers = defaultWriters
	}
	if err := cmp.Or(o.Scan.Validate(), o.Flags.validate()); err != nil {
		return err
	}
	if o.Scan.From != "" && o.Flags.DryRun != dryRunClient {
		return Usagef("--from works only with --dry-run=client")
	}
	o.Output.Complete()
	switch {
	case o.ForPerson():
	case o.Output.Format == jsonLines:
		if o.Flags.DryRun == dryRunClient {
			return Usagef("-o jsonl cannot be combined with --dry-run=client")
		}
	default:
		var err error
		if o.writeDocument, err = o.Output.DocumentWriter(o.Scan.Streams); err != nil {
			return err
		}
	}
	return o.validateAcceptedGaps()
}

// ForPerson reports whether the output is for a person, not for a program.
func (o *MutatingOptions) ForPerson() bool { return o.Output.Format == "table" }
