// Package explain is the command kubectl gc explain.
package explain

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/markdown"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// New returns the command explain.
func New(scan *cli.ScanOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain an audit rule: what it means, and how to repair it",
		Long: `Explain an audit rule: what its findings mean, how they come about, what the
garbage collector does, and how to repair them. Without RULE, list all rules.

It needs no cluster and no network.`,
		Example: cli.Examples(`
# All rules
kubectl gc explain

# One of them
kubectl gc explain missing-owner`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRule,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.NoArguments(cmd, args[1:])
			}
			page := docs.Rules() + "\nMore about one: " + plugin.Command() + " explain RULE\n"
			if len(args) == 1 {
				if err := cli.CheckRules(args); err != nil {
					return err
				}
				page, _ = docs.Rule(args[0])
			}
			if err := markdown.Text(scan.Text(), plugin.Named(page)); err != nil {
				return fmt.Errorf("write the page: %w", err)
			}
			return nil
		},
	}
}

func completeRule(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.CompleteRules(audit.IDs())(cmd, args, typed)
}
