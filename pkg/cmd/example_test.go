package cmd

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

func TestEveryExampleIsAValidCommandLine(t *testing.T) {
	ours := regexp.MustCompile(`(?m)` + cli.CommandName + ` ([^|>)\n]*)`)
	every := Commands(streams(io.Discard, io.Discard))
	for _, of := range append(every.Commands(), every) {
		for _, line := range ours.FindAllStringSubmatch(of.Example, -1) {
			root := Commands(streams(io.Discard, io.Discard))
			cmd, rest, err := root.Find(strings.Fields(line[1]))
			if err != nil {
				t.Errorf("%s: %q is no command: %v", of.CommandPath(), line[0], err)
				continue
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: %q: %v", of.CommandPath(), line[0], err)
			}
			if words := cmd.Flags().Args(); cmd == root && len(words) > 0 {
				t.Errorf("%s: %q: %s is no command", of.CommandPath(), line[0], words[0])
			}
			if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%s: %q: %v", of.CommandPath(), line[0], err)
			}
		}
	}
}
