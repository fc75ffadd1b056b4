package cli

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// MutatingOptions is what every command that changes something is told on its command
// line: where to look, how to ask, and how to answer.
type MutatingOptions struct {
	Scan          *ScanOptions
	Flags         MutationFlags
	command       string // its name
	Given         *pflag.FlagSet
	args          []string
	writers       int // how many writes are in flight; 0: as --concurrency says
	Output        string
	Formats       *structured.Flags
	writeDocument func(kind string, value any, named []object.Identity) error // nil where the answer is for a person, or lines
}

func NewMutatingOptions(command string, from *ScanOptions) *MutatingOptions {
	return &MutatingOptions{Scan: from, command: command, Formats: structured.NewFlags(os.ReadFile)}
}

// workers is how many writes are in flight unless --concurrency says otherwise.
// The collector has 20 (--concurrent-gc-syncs); with more, a server spends less on each
// (docs/performance-acting.md), and what is too much for it, it queues or refuses
// until later.
const workers = 64

func (c *MutatingOptions) AddFlags(cmd *cobra.Command) {
	c.Scan.AddReadingFlags(cmd.Flags())
	c.Flags.addFlags(cmd.Flags())
	AddOutputFlags(cmd, &c.Output, c.Formats)
}

// Complete takes over what was given, before anything is asked of a cluster.
func (c *MutatingOptions) Complete(cmd *cobra.Command, args []string) error {
	c.Given, c.args = cmd.Flags(), args
	if !c.Given.Changed("concurrency") {
		c.writers = workers
	}
	if err := cmp.Or(c.Scan.Validate(), c.Flags.validate()); err != nil {
		return err
	}
	if c.Scan.From != "" && c.Flags.DryRun != dryRunClient {
		return Usagef("--from works only with --dry-run=client")
	}
	c.Output = ChooseFormat(c.command, c.Output, c.Formats)
	var err error
	c.writeDocument, err = c.formatWriter()
	return err
}

// jsonLines is the format in which events are told as they happen.
const jsonLines = "jsonl"

// formatWriter chooses how the answer is written; nil where it is for a person, or told
// line by line.
func (c *MutatingOptions) formatWriter() (func(kind string, value any, named []object.Identity) error, error) {
	switch c.Output {
	case "table":
		return nil, nil
	case jsonLines:
		if c.Flags.DryRun == dryRunClient {
			return nil, Usagef("-o jsonl cannot be combined with --dry-run=client")
		}
		return nil, nil
	}
	format, err := c.Formats.ToPrinter(c.Output, OwnFormats[c.command]...)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	return func(kind string, value any, named []object.Identity) error {
		return format.Print(c.Scan.Out, structured.NewDocument(kind, value, named...), c.Scan.OutTerm)
	}, nil
}

// ForPerson says whether the answer is for a person.
func (c *MutatingOptions) ForPerson() bool { return c.Output == "table" }
