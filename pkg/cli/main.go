package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// Main runs one command line and answers the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	from := newSource(s)
	root := newRoot(from)
	root.SetArgs(args)
	code := finish(ctx, args, s, root.ExecuteContext(ctx))
	from.sum()
	return code
}

// Commands is the tree of all commands, for who describes it. Built once, it asks nothing
// of a cluster.
func Commands(s Streams) *cobra.Command { return newRoot(newSource(s)) }

// newRoot builds the command tree. It asks nothing of a cluster.
func newRoot(from *source) *cobra.Command {
	s := from.Streams
	root := &cobra.Command{
		Use:   plugin.File(),
		Short: "See what the Kubernetes garbage collector sees",
		Long: `See what the Kubernetes garbage collector sees: owners and dependents through
metadata.ownerReferences, and what it will do because of them.

Only collect, delete, repair and restore change the cluster, after a preview and a
confirmation.`,
		Example: examples(`
# Who owns a Deployment, and what depends on it
kubectl gc tree deployment/web

# Every bad owner reference in the cluster, and what the garbage collector does about it
kubectl gc audit

# Preview a pass of the garbage collector, and run it
kubectl gc collect --dry-run
kubectl gc collect

# What happens to one object, and why
kubectl gc why secret/restored -n shop

# Preview the deletion of a Deployment
kubectl gc delete deployment/web -n shop --dry-run

# Repair references instead of losing objects, and restore what a run deleted
kubectl gc repair --dry-run
kubectl gc restore

# Scan now, and analyse later without the cluster
kubectl gc snapshot -o cluster.json.gz
kubectl gc audit --from cluster.json.gz`),
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: called},
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usage{err: errors.New("unknown command " + quoted(args[0])), command: called}
			}
			return cmd.Help()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usage{err: err, command: cmd.CommandPath()}
	})
	from.addConnectionFlags(root.PersistentFlags())
	addVerbosity(root.PersistentFlags(), s)
	from.completeFlags(root)
	root.SetUsageFunc(printUsage)
	root.AddCommand(
		newTree(from), newAudit(from), newReport(from), newWhy(from), newCollect(from), newDelete(from), newRepair(from), newRestore(from), newSnapshot(from),
		newVersion(from), newCompletion(from), newOptions(),
	)
	return root
}

// newOptions lists the flags that every command takes, which their help leaves out.
func newOptions() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command takes",
		Args:  noArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			cmd.Println("Every command takes these flags:\n\n" + cmd.InheritedFlags().FlagUsages())
		},
	}
}
