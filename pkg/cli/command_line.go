package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// CommandName is the command line that starts the program: kubectl gc.
var CommandName = plugin.Command()

// SetUpRoot gives a root command, whose subcommands are added already, the streams and
// flags that all commands share. It makes no request to a cluster.
func SetUpRoot(root *cobra.Command, scan *ScanOptions) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: CommandName}
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions = cobra.CompletionOptions{DisableDefaultCmd: true}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetIn(scan.In)
	out, columns := wrap.Unwrap(scan.Text()) // help has its own line breaks
	root.SetOut(out)
	root.SetErr(scan.Err)
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	root.SetUsageFunc(func(cmd *cobra.Command) error { return printUsage(cmd, columns) })
	root.Version = Release()
	root.SetVersionTemplate("kubectl-gc {{.Version}}\n")
	root.Flags().Bool("version", false, "Print the version.")
	root.PersistentFlags().BoolP("help", "h", false, "Show the help of a command.") // cobra's own has another style
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {        // of every command: cobra runs only the nearest one
		return cmp.Or(refuseEmpty(cmd, args), refuseNegative(cmd), refuseStrayValues(cmd, args))
	}
	scan.addConnectionFlags(root)
	addVerbosity(root, scan.Streams)
}

// Execute runs one command line and returns its exit code.
func Execute(ctx context.Context, root *cobra.Command, scan *ScanOptions, args []string) int {
	root.SetArgs(args)
	return exitCode(ctx, args, scan, root.ExecuteContext(ctx))
}

// exitCode prints the error of a command, if there is one, and returns the exit code.
func exitCode(ctx context.Context, args []string, s *ScanOptions, err error) int {
	var code ExitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(s.Err, "interrupted: nothing was changed")
		return ExitInterrupted
	}
	message, _, _ := strings.Cut(redact.Error(err, urls(args)...).Error(), "\n")
	fmt.Fprintln(s.Err, "error: "+escape.Short(message, 2000))
	if hinted, ok := errors.AsType[*hintedError](err); ok {
		hint := escape.Terminal(redact.Text(hinted.hint))
		if hinted.command != nil {
			hint += ": " + s.Suggest(hinted.command...)
		}
		fmt.Fprintln(s.Err, "hint: "+hint)
	}
	if usage, ok := errors.AsType[*usageError](err); ok && usage.command != "" {
		fmt.Fprintf(s.Err, "See '%s --help'.\n", usage.command)
	}
	return ExitUsage
}

// urls returns the URLs on a command line, which errors may quote.
func urls(args []string) (out []string) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if strings.Contains(arg, "://") {
			out = append(out, arg, escape.Terminal(arg)) // as errors show it
		}
	}
	return out
}

// printUsage writes how a command is called and its own flags. Of the flags that all
// commands have it shows -n, next to -A. Columns are those of the terminal; 0 is no limit.
func printUsage(cmd *cobra.Command, columns int) error {
	var b strings.Builder
	line := cmd.UseLine()
	switch {
	case cmd.HasAvailableSubCommands() && cmd.Runnable():
		line = cmd.CommandPath() + " [COMMAND] [flags]"
	case cmd.HasAvailableSubCommands():
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
	}
	shown := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	shown.AddFlagSet(cmd.LocalNonPersistentFlags())
	if cmd.LocalFlags().Lookup("all-namespaces") != nil {
		shown.AddFlag(cmd.Flag("namespace"))
	}
	if shown.HasFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", FlagUsages(shown, columns))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Use %q for the flags that every command takes.\n", CommandName+" options")
	_, err := cmd.OutOrStdout().Write([]byte(b.String()))
	return err
}

// advanced is the annotation of a flag that few users need.
const advanced = "advanced"

// MarkAdvanced marks flags of the set that few users need.
func MarkAdvanced(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := flags.SetAnnotation(name, advanced, []string{"true"}); err != nil {
			panic(err) // no such flag
		}
	}
}

// FlagUsages describes flags, those that few users need below the others, for a terminal of so many
// columns; 0 is no limit.
func FlagUsages(flags *pflag.FlagSet, columns int) string {
	usual, rare := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[advanced] != nil {
			rare.AddFlag(f)
		} else {
			usual.AddFlag(f)
		}
	})
	if !rare.HasFlags() {
		return usual.FlagUsagesWrapped(columns)
	}
	return usual.FlagUsagesWrapped(columns) + "\nAdvanced flags:\n" + rare.FlagUsagesWrapped(columns)
}

// Examples indents a block of examples as help shows it, with the name that the program
// has here.
func Examples(block string) string {
	lines := strings.Split(strings.Trim(plugin.Named(block), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// release and commit are set by the linker (-X …/pkg/cli.release=v1.2.3).
var release, commit string

// Commit returns the commit that the program was built from; empty if that is unknown.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if commit != "" || !ok {
		return commit
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// Release returns the version: of the release, or else of the module that was built.
func Release() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
