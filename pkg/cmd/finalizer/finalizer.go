// Package finalizer is the command kubectl gc finalizer.
package finalizer

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// New returns the command finalizer.
func New(scan *cli.ScanOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "finalizer",
		Short: "Remove a finalizer whose controller is gone",
		Long:  "Remove a finalizer that holds a deletion, when its controller is gone.",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRemove(scan))
	return cmd
}
