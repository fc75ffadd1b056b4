package cli

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// changing is what every command that changes something is told on its command
// line: where to look, how to ask, and how to answer.
type changing struct {
	*source
	acting
	command string // its name
	given   *pflag.FlagSet
	args    []string
	writers int // how many writes are in flight; 0: as --concurrency says
	output  string
	formats *structured.Flags
	write   func(kind string, value any, named []object.Identity) error // nil where the answer is for a person, or lines
}

func newChanging(command string, from *source) *changing {
	return &changing{source: from, command: command, formats: structured.NewFlags(os.ReadFile)}
}

// workers is how many writes are in flight unless --concurrency says otherwise.
// The collector has 20 (--concurrent-gc-syncs); with more, a server spends less on each
// (docs/performance-acting.md), and what is too much for it, it queues or refuses
// until later.
const workers = 64

func (c *changing) addFlags(cmd *cobra.Command) {
	c.addReadingFlags(cmd.Flags())
	c.acting.addFlags(cmd.Flags())
	addOutputFlags(cmd, &c.output, c.formats)
}

// read takes over what was given, before anything is asked of a cluster.
func (c *changing) read(cmd *cobra.Command, args []string) error {
	c.given, c.args = cmd.Flags(), args
	if !c.given.Changed("concurrency") {
		c.writers = workers
	}
	if err := cmp.Or(c.source.validate(), c.acting.validate()); err != nil {
		return err
	}
	if c.from != "" && c.dryRun != dryRunClient {
		return usagef("--from works only with --dry-run=client")
	}
	c.output = chosen(c.command, c.output, c.formats)
	var err error
	c.write, err = c.writer()
	return err
}

// jsonLines is the format in which events are told as they happen.
const jsonLines = "jsonl"

// writer chooses how the answer is written; nil where it is for a person, or told
// line by line.
func (c *changing) writer() (func(kind string, value any, named []object.Identity) error, error) {
	switch c.output {
	case "table":
		return nil, nil
	case jsonLines:
		if c.dryRun == dryRunClient {
			return nil, usagef("-o jsonl cannot be combined with --dry-run=client")
		}
		return nil, nil
	}
	format, err := c.formats.ToPrinter(c.output, own[c.command]...)
	if err != nil {
		return nil, &usage{err: err}
	}
	return func(kind string, value any, named []object.Identity) error {
		return format.Print(c.Out, structured.NewDocument(kind, value, named...), c.OutTerm)
	}, nil
}

// readable says whether the answer is for a person.
func (c *changing) readable() bool { return c.output == "table" }
