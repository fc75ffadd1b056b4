package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newVersion returns the command version.
func newVersion(from *source) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(from.Out, "kubectl-gc %s\n", version())
			return err
		},
	}
}
