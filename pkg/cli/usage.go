package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// CommandName is the command line that starts the program: kubectl gc.
var CommandName = plugin.Command()

// PrintUsage writes how a command is called, with its own flags and, of those
// that every command takes, the one people look for.
func PrintUsage(cmd *cobra.Command) error {
	var b strings.Builder
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
		fmt.Fprintf(&b, "\nUse %q for more about a command.\n", cmd.CommandPath()+" COMMAND --help")
	} else {
		fmt.Fprintf(&b, "\nFlags:\n%s\n", shownFlags(cmd).FlagUsages())
	}
	fmt.Fprintf(&b, "Use %q for the flags that every command takes.\n", CommandName+" options")
	_, err := cmd.OutOrStdout().Write([]byte(b.String()))
	return err
}

func shownFlags(cmd *cobra.Command) *pflag.FlagSet {
	shown := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	shown.AddFlagSet(cmd.LocalFlags())
	if cmd.LocalFlags().Lookup("all-namespaces") != nil {
		shown.AddFlag(cmd.InheritedFlags().Lookup("namespace"))
	}
	return shown
}

// Examples indents a block of examples as help shows it, under the name that the
// program has.
func Examples(block string) string {
	lines := strings.Split(strings.Trim(plugin.Named(block), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// NoArguments returns an error if a command that takes no argument has one.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &UsageError{Err: errors.New("unexpected argument " + Quote(args[0])), Command: cmd.CommandPath()}
	}
	return nil
}
