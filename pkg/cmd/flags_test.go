package cmd

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allCommands returns the root command and every command below it, at a terminal of 80 columns.
func allCommands() []*cobra.Command {
	s := streams(io.Discard, io.Discard)
	s.OutWidth = func() int { return 80 }
	all := []*cobra.Command{Commands(s)}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
	}
	return all
}

func everyCommand(t *testing.T, check func(t *testing.T, c *cobra.Command)) {
	for _, c := range allCommands() {
		t.Run(c.CommandPath(), func(t *testing.T) { check(t, c) })
	}
}

func TestFlagsAreDescribedInOneLine(t *testing.T) {
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		described := func(f *pflag.Flag) {
			if len(f.Usage) > 100 || f.Usage[:1] != strings.ToUpper(f.Usage[:1]) || !strings.HasSuffix(f.Usage, ".") {
				t.Errorf("--%s: %q has %d columns; want a capital, a period, and 100 columns at most", f.Name, f.Usage, len(f.Usage))
			}
		}
		c.Flags().VisitAll(described)
		c.PersistentFlags().VisitAll(described)
	})
}

// Texts have line breaks of their own, flags those that the terminal demands, and commands none.
func TestHelpIsNarrow(t *testing.T) {
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		var help bytes.Buffer
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		if c.Name() == "options" {
			c.Run(c, nil)
		}
		for line := range strings.Lines(help.String()) {
			line = strings.TrimSuffix(line, "\n")
			if len(line) > 79 && !strings.Contains(line, "kubectl gc ") {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	})
}
