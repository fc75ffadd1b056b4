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
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.WithHelp(cli.Usagef("unknown command %s", cli.Quote("finalizer "+args[0])), cmd.CommandPath())
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newRemove(scan))
	return cmd
}
