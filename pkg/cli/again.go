package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
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
	words := []string{called, c.command}
	for _, arg := range c.args {
		words = append(words, shellWord(arg))
	}
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
			words = append(words, "-"+f.Shorthand, shellWord(value))
		default:
			words = append(words, "--"+f.Name, shellWord(value))
		}
	})
	return escape.Terminal(strings.Join(words, " "))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// shellWord quotes what a shell would not take for one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
