// Package cmd is the root command; each package below it is a command.
package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/completion"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/delete"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/stuck"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/version"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/why"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, args []string, s cli.Streams) int {
	scan := cli.NewScanOptions(s)
	return cli.Execute(ctx, newRoot(scan), scan, args)
}

// Commands returns the root command, for documentation. It makes no request to a cluster.
func Commands(s cli.Streams) *cobra.Command { return newRoot(cli.NewScanOptions(s)) }

// synonyms are words of other programs for what a command does.
var synonyms = map[string][]string{
	"audit":      {"check", "find", "lint", "list", "orphans", "scan"},
	"collect":    {"clean", "cleanup", "prune", "purge", "sweep"},
	"controller": {"daemon", "run", "serve"},
	"delete":     {"remove", "rm"},
	"doctor":     {"health", "status"},
	"explain":    {"rule", "rules"},
	"finalizer":  {"unblock", "unstick"},
	"repair":     {"fix"},
	"restore":    {"recover", "rollback", "undo"},
	"snapshot":   {"dump", "export", "save"},
	"stuck":      {"hanging", "hung", "terminating"},
	"tree":       {"graph", "list", "ls", "show"},
	"trace":      {"blame", "history", "who"},
	"why":        {"describe"},
}

func newRoot(scan *cli.ScanOptions) *cobra.Command {
	root := overview.New(scan)
	root.AddCommand(
		tree.New(scan), audit.New(scan), stuck.New(scan), why.New(scan), trace.New(scan), explain.New(scan), collect.New(scan), controller.New(scan), delete.New(scan), doctor.New(scan), repair.New(scan), finalizer.New(scan), restore.New(scan), snapshot.New(scan),
		version.New(scan), completion.New(scan), newOptions(scan),
	)
	for _, command := range root.Commands() {
		command.SuggestFor = synonyms[command.Name()]
	}
	cli.SetUpRoot(root, scan)
	return root
}

// newOptions returns the command that lists the flags that all commands share. The help of
// these commands leaves them out.
func newOptions(scan *cli.ScanOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command takes",
		Args:  cli.NoArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			_, columns := wrap.Unwrap(scan.Text())
			cmd.Println("Every command takes these flags:\n\n" + cli.FlagUsages(cmd.InheritedFlags(), columns))
		},
	}
}
