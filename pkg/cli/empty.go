package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// refuseNegative returns an error if a number of objects or a time is negative, of a flag that has no
// negative default.
func refuseNegative(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "duration":
			if strings.HasPrefix(f.Value.String(), "-") && !strings.HasPrefix(f.DefValue, "-") {
				err = Usagef("--%s must not be negative", f.Name)
			}
		}
	})
	return err
}

// refuseEmpty returns an error if a flag or an argument was given without a value, as -n "$NS" is
// if NS is not set. No command may take that for a flag that was not given, which selects
// everything.
func refuseEmpty(cmd *cobra.Command, args []string) error {
	if cmd.DisableFlagParsing { // a completion: its last argument is the word that is being typed
		return nil
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && isEmptyValue(f.Value) {
			err = Usagef("--%s has an empty value", f.Name)
		}
	})
	if err == nil && slices.ContainsFunc(args, isBlank) {
		err = Usagef("an argument is empty")
	}
	return WithHint(WithHelp(err, cmd.CommandPath()), "if the value comes from a shell variable, that variable is not set")
}

// isEmptyValue reports whether the value of a flag that was given, or one of its values, is blank.
func isEmptyValue(v pflag.Value) bool {
	list, ok := v.(pflag.SliceValue)
	if !ok {
		return isBlank(v.String())
	}
	values := list.GetSlice()
	return len(values) == 0 || slices.ContainsFunc(values, isBlank)
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
