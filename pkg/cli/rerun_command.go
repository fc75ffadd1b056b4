package cli

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// unrelatedFlags are the flags that do not influence the plan.
var unrelatedFlags = []string{
	"dry-run", "yes", "confirm", "output", "template", "allow-missing-template-keys", "color", "v",
}

// rerunCommand returns the command line without unrelatedFlags, to be pasted into a shell.
// Credentials are replaced by redact.Mark, not left out: without them the command would run
// as another user.
func (o *MutatingOptions) rerunCommand() string {
	return commandLine(o.command, o.args, o.given)
}

func commandLine(command string, args []string, given *pflag.FlagSet, without ...string) string {
	words := strings.Fields(command)
	for _, arg := range args {
		words = append(words, withoutCredentials("", arg))
	}
	given.Visit(func(f *pflag.Flag) {
		if slices.Contains(unrelatedFlags, f.Name) || slices.Contains(without, f.Name) {
			return
		}
		words = append(words, flagWords(f)...)
	})
	return CommandName + " " + escape.Terminal(ShellCommand(words...))
}

// flagWords returns the words that give a flag its value, without credentials.
func flagWords(f *pflag.Flag) []string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	for i := range values {
		values[i] = withoutCredentials(f.Name, values[i])
	}
	switch {
	case f.Value.Type() == "bool" && values[0] == "true":
		return []string{"--" + f.Name}
	case f.NoOptDefVal != "": // a value needs the =
		return []string{"--" + f.Name + "=" + values[0]}
	case f.Value.Type() == "stringArray": // a comma is part of a value
		var words []string
		for _, v := range values {
			words = append(words, name, v)
		}
		return words
	}
	return []string{name, strings.Join(values, ",")}
}

// withoutCredentials returns the value of a flag, or of an argument, without credentials.
func withoutCredentials(flag, value string) string {
	switch flag {
	case "token", "password":
		return redact.Mark
	case "server", "proxy-url":
		return redact.URL(value)
	}
	if strings.Contains(value, "://") {
		return redact.URL(value)
	}
	return value
}

// ShellCommand quotes the words of a command line for the shell of this system.
func ShellCommand(words ...string) string {
	if runtime.GOOS == "windows" {
		return wording.CommandOnWindows(words...)
	}
	return wording.Command(words...)
}
