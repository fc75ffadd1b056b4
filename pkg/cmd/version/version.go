// Package version is the command kubectl gc version.
package version

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// New returns the command version.
func New(scan *cli.ScanOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(scan.Out, "kubectl-gc %s\n", cli.Release())
			return err
		},
	}
}
