package cli

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

// passing are the flags that make no difference to what a plan is of, or that
// nobody should read twice.
var passing = []string{
	"dry-run", "yes", "confirm", "plan-out", "output", "template", "allow-missing-template-keys", "color", "v",
	"token", "password",
}

// again is the command line as it was given, save for those flags, so that it can
// be pasted into a shell. What comes of it is escaped.
func (c *changing) again(without ...string) string {
	words := append([]string{c.command}, c.args...)
	c.given.Visit(func(f *pflag.Flag) {
		if slices.Contains(passing, f.Name) || slices.Contains(without, f.Name) {
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
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
	return called + " " + escape.Terminal(pasted(words...))
}

// pasted are words of a command line, paths among them, as a shell here takes them.
func pasted(words ...string) string {
	if runtime.GOOS == "windows" {
		return phrase.CommandOnWindows(words...)
	}
	return phrase.Command(words...)
}
