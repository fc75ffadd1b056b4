// Package restore is the command kubectl gc restore.
package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type restoreFlags struct {
	options          *cli.MutatingOptions
	exact            bool
	toAnotherCluster bool
}

// New returns the command restore.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &restoreFlags{options: cli.NewMutatingOptions("restore", scan)}
	cmd := &cobra.Command{
		Use:   "restore BACKUP [TYPE/NAME ...]",
		Short: "Recreate objects from a backup",
		Long: `Recreate the objects that a run deleted, from its backup: owners first, with every
owner reference pointing at the owner's new UID. References that the run removed
from existing objects are restored, too.

BACKUP is a folder, or the name of one below ~/.kube/gc-backup/CONTEXT. Without
it, the command lists the existing backups.

First it shows the plan, and what is not restored. Objects that exist already are
left alone, and named. No object gets a reference for which the garbage collector
would delete it: such references are omitted, and named. Run an interrupted
restoration again to continue it.

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left or not verified, 2 no answer, 3 an incomplete scan with --strict,
4 not confirmed, 130 interrupted.`,
		Example: cli.Examples(`
# List the backups
kubectl gc restore

# Preview what would be restored, and what would not
kubectl gc restore 2026-11-20T08-31-07Z --dry-run

# Ask the API server whether it would accept each step
kubectl gc restore 2026-11-20T08-31-07Z --dry-run=server

# Run it, after a preview and a confirmation
kubectl gc restore 2026-11-20T08-31-07Z

# Only some of its objects
kubectl gc restore 2026-11-20T08-31-07Z -n shop deployment/web configmap/flags`),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.options.Complete(cmd, args); err != nil {
				return err
			}
			if len(args) == 0 {
				return f.list()
			}
			return f.run(cmd.Context(), args[0], args[1:])
		},
		ValidArgsFunction: f.completeBackup,
	}
	f.options.AddFlagsWithoutBackup(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.exact, "exact", false, "restore every reference as it was, even if the garbage collector will delete the object because of it")
	flags.BoolVar(&f.toAnotherCluster, "to-another-cluster", false, "restore a backup of another cluster to this one")
	return cmd
}

func (f *restoreFlags) run(ctx context.Context, name string, args []string) error {
	wanted, err := cli.ParseTargets(args)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(wanted, func(t cli.Target) bool { return t.Name == "" }) {
		return cli.Usagef("name each object of the backup as TYPE/NAME")
	}
	f.options.Flags.NoBackup = true // a restoration deletes nothing, and keeps a journal
	saved, err := f.open(name)
	if err != nil {
		return err
	}
	defer saved.Close()
	if err := f.checkCluster(ctx, saved.Header); err != nil {
		return err
	}
	var journal *backup.Journal
	if f.options.Flags.Mutates() {
		if journal, err = saved.Journal(); err != nil {
			return err
		}
	}
	r := newRestoreRun(f, saved, journal, wanted)
	defer r.close()
	return r.run(ctx)
}

// checkCluster returns an error if the backup is not of the current cluster, unless
// --to-another-cluster is given.
func (f *restoreFlags) checkCluster(ctx context.Context, h backup.Header) error {
	if f.options.Scan.From != "" || f.toAnotherCluster {
		return nil
	}
	const useFlag = "to restore it to this cluster, use --to-another-cluster"
	if h.ClusterUID == "" {
		return cli.WithHint(
			cli.Usagef("the backup does not record its cluster; its server was %s (context %s)", cli.Quote(h.Server), cli.Quote(h.Context)),
			"the run could not read Namespace kube-system, or an older version wrote the backup; "+useFlag,
		)
	}
	live, err := f.options.Scan.Connect()
	if err != nil {
		return err
	}
	uid, err := read.UID(ctx, live)
	switch {
	case err != nil:
		return cli.WithHint(
			fmt.Errorf("cannot verify that the backup is of this cluster: %w", err),
			"ask for permission to read Namespace kube-system, whose UID identifies a cluster; or "+useFlag,
		)
	case string(uid) != h.ClusterUID:
		_, server, err := f.options.Scan.ContextAndServer()
		if err != nil {
			return err
		}
		return cli.WithHint(
			cli.Usagef("the backup is of another cluster: its Namespace kube-system has UID %s (server %s, context %s), here it has UID %s (server %s)",
				cli.Quote(h.ClusterUID), cli.Quote(h.Server), cli.Quote(h.Context), cli.Quote(string(uid)), cli.Quote(server)),
			"select its context with --context; "+useFlag,
		)
	}
	return nil
}

// filter returns a filter for the namespace of -n and the wanted objects, or nil for
// everything.
func (f *restoreFlags) filter(wanted []cli.Target, served []snapshot.Type) (func(object.Identity) bool, error) {
	namespace := f.options.Scan.Config.Namespace()
	if namespace == "" && len(wanted) == 0 {
		return nil, nil
	}
	kinds := map[string]cli.Target{}
	for _, t := range wanted {
		found := snapshot.Find(served, t.Word)
		if len(found) == 0 { // its definition may be in the backup
			return nil, cli.WithHint(cli.Usagef("the server has no resource type %s", cli.Quote(t.Word)), "if its CustomResourceDefinition is in the backup, restore that first")
		}
		t.Type = found[0]
		kinds[t.String()] = t
	}
	mapper := snapshot.NewMapper(served)
	return func(o object.Identity) bool {
		if namespace != "" && o.Namespace != namespace {
			return false
		}
		if len(wanted) == 0 {
			return true
		}
		m, ok := mapper.Map(o.APIVersion, o.Kind)
		t, named := kinds[m.Type.GroupResource().String()+"/"+o.Name]
		return ok && named && t.Type.GroupResource() == m.Type.GroupResource()
	}, nil
}
