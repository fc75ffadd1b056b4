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

// passing are the flags that make no difference to what a plan is of.
var passing = []string{
	"dry-run", "yes", "confirm", "plan-out", "output", "template", "allow-missing-template-keys", "color", "v",
}

// rerunCommand is the command line as it was given, save for those flags, so that it can
// be pasted into a shell. What comes of it is escaped. Credentials in it are replaced by
// redact.Mark: left out without a trace, the line would seem to do the same and be
// somebody else's.
func (c *MutatingOptions) rerunCommand(without ...string) string {
	words := []string{c.command}
	for _, arg := range c.args {
		words = append(words, withoutCredentials("", arg))
	}
	c.Given.Visit(func(f *pflag.Flag) {
		if slices.Contains(passing, f.Name) || slices.Contains(without, f.Name) {
			return
		}
		value := withoutCredentials(f.Name, f.Value.String())
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values := list.GetSlice()
			for i := range values {
				values[i] = withoutCredentials(f.Name, values[i])
			}
			value = strings.Join(values, ",")
		}
		switch {
		case f.Value.Type() == "bool" && value == "true":
			words = append(words, "--"+f.Name)
		case f.Shorthand != "":
			words = append(words, "-"+f.Shorthand, value)
		default:
			words = append(words, "--"+f.Name, value)
		}
	})
	return CommandName + " " + escape.Terminal(ShellCommand(words...))
}

// withoutCredentials returns what was given for a flag, or as an argument, without what
// proves who asks.
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

// ShellCommand are words of a command line, paths among them, as a shell here takes them.
func ShellCommand(words ...string) string {
	if runtime.GOOS == "windows" {
		return wording.CommandOnWindows(words...)
	}
	return wording.Command(words...)
}
