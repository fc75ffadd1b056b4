package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// NoArguments is the Args of a command that takes none, or only the names of other commands.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || isBlank(args[0]) { // refuseEmpty refuses it
		return nil
	}
	what := "unexpected argument"
	if cmd.HasSubCommands() {
		what = "unknown command"
	}
	cmd.SuggestionsMinimumDistance = min(2, (len(args[0])+2)/3) // edits, no more than Nearest
	near := cmd.SuggestionsFor(args[0])
	switch {
	case strayValue(cmd, args[0]) != "":
		near = append(near, strayValue(cmd, args[0]))
	case !isFile(args[0]):
	case cmd.Flags().Lookup("from") != nil:
		near = append(near, "--from "+ShellCommand(args[0]))
	case cmd.Flags().Lookup("output") != nil:
		near = append(near, "-o "+ShellCommand(args[0]))
	}
	slices.Sort(near)
	err := Usagef("%s %s%s", what, Quote(args[0]), DidYouMean(slices.Compact(near)))
	if len(near) == 0 {
		err = cmp.Or(unexpectedTarget(cmd, args), err)
	}
	return WithHelp(err, cmd.CommandPath())
}

// knownTopic is the Args of cobra's help command.
func knownTopic(help *cobra.Command, args []string) error {
	found, rest, err := help.Root().Find(args)
	return cmp.Or(err, NoArguments(found, rest))
}

// unexpectedTarget returns an error that leads to why, if arguments that are not expected are TYPE/NAME, or
// TYPE NAME with a type that most clusters serve.
func unexpectedTarget(cmd *cobra.Command, args []string) error {
	targets, err := ParseTargets(args)
	if err != nil || targets[0].Name == "" || cmd.HasParent() && cmd.HasSubCommands() {
		return nil
	}
	usual, err := loadDemo(time.Time{})
	if err != nil {
		return err
	}
	t, near := targets[0], []string(nil)
	if len(snapshot.Find(usual.Types, t.Word)) == 0 {
		if near = t.nearestTypes(usual.Types); !strings.Contains(args[0], "/") {
			return nil
		}
	}
	object := t.Word + "/" + t.Name
	if len(near) > 0 {
		object = "TYPE/NAME"
	}
	words := []string{"why", object}
	if n := cmd.Flag("namespace"); n != nil {
		words = append(words, "-n", n.Value.String())
	}
	return WithCommandHint(Usagef("unexpected argument %s%s", Quote(args[0]), DidYouMean(near)), "to explain one object", words...)
}

// isFile reports whether a word is the name of a document, or would be the name of one.
func isFile(word string) bool {
	_, err := os.Stat(word)
	return err == nil || slices.Contains([]string{".json", ".yaml", ".yml", ".gz"}, filepath.Ext(word))
}

// strayValue returns the flag whose value an argument is, if such a flag is given without =,
// which it needs: --dry-run=server for server after --dry-run. Otherwise it returns "".
func strayValue(cmd *cobra.Command, arg string) (flag string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if complete, ok := cmd.GetFlagCompletionFunc(f.Name); ok && f.Value.Type() != "bool" && f.NoOptDefVal != "" && f.NoOptDefVal == f.Value.String() {
			if words, _ := complete(cmd, nil, ""); slices.Contains(Choices(words).Values(), arg) {
				flag = "--" + f.Name + "=" + arg
			}
		}
	})
	return flag
}

// refuseStrayValues returns an error if an argument looks like the value of a flag. An object of that
// name would be deleted, and the flag would not have its effect.
func refuseStrayValues(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if flag := strayValue(cmd, arg); flag != "" {
			return WithHint(Usagef("unexpected argument %s%s", Quote(arg), DidYouMean([]string{flag})), "for an object of that name, write TYPE/NAME")
		}
	}
	return nil
}

// numbers are the types of flags whose errors name functions of Go's library, and what such a flag takes.
var numbers = map[string]string{
	"int": "a whole number", "int64": "a whole number", "Level": "a whole number",
	"duration": "a duration such as 30s, 5m or 24h", "quantity": "an amount of memory such as 512Mi or 2Gi",
}

// flagError returns the usage error for an error of parsing flags.
func flagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // the flag is that of the command which was meant
		return NoArguments(cmd, words)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		return WithHelp(unknownFlag(cmd, unknown.GetSpecifiedName()), cmd.CommandPath())
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag, takes := "--"+invalid.GetFlag().Name, numbers[invalid.GetFlag().Value.Type()]
		switch {
		case errors.Is(err, strconv.ErrRange):
			err = Usagef("%s %s: too large", flag, Quote(invalid.GetValue()))
		case takes != "":
			err = Usagef("%s %s: must be %s", flag, Quote(invalid.GetValue()), takes)
		}
	}
	return WithHelp(err, cmd.CommandPath())
}

// unknownFlag returns the error of a flag that a command does not have: the flags that may have been
// meant, or else the commands that have it.
func unknownFlag(cmd *cobra.Command, name string) error {
	var near, commands []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { near = append(near, f.Name) })
	if i := slices.IndexFunc(near, func(n string) bool { return strings.HasSuffix(n, "-"+name) }); i >= 0 {
		near = near[i : i+1]
	} else {
		near = Nearest(name, near)
	}
	near = prepend("--", near)
	err := Usagef("unknown flag: --%s%s", name, DidYouMean(near))
	has := func(c *cobra.Command) bool { f := c.Flags().Lookup(name); return f != nil && !f.Hidden }
	for _, other := range cmd.Root().Commands() {
		if has(other) || slices.ContainsFunc(other.Commands(), has) {
			commands = append(commands, other.Name())
		}
	}
	if len(near) > 0 || len(commands) == 0 {
		return err
	}
	return WithHint(err, "commands with --"+name+": "+strings.Join(commands, ", "))
}
