// Package restore is the command kubectl gc restore.
package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type restoreCommand struct {
	options          *cli.MutatingOptions
	toAnotherCluster bool

	wanted      []cli.Target // empty for everything
	input       restore.SavedRun
	how         restore.Options
	restoration *restore.Restoration // of the latest scan before the run
	header      backup.Header
	unproven    error                        // the error unless the scan has a witness; nil if it is known which cluster it is
	manager     func(object.Identity) string // the field managers of the created objects
	journal     *backup.Journal              // nil in a dry run

	mu sync.Mutex // held while input.Recreated is written
}

// New returns the command restore.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &restoreCommand{options: cli.NewMutatingOptions("restore", scan)}
	cmd := &cobra.Command{
		Use:   "restore [BACKUP [TYPE/NAME ...]]",
		Short: "Recreate objects from a backup",
		Long: `Recreate the objects that a run deleted, from its backup: owners first, with
every owner reference pointing at the owner's new UID. It also restores
references that the run removed from existing objects.

BACKUP is a folder, the name of a backup below ~/.kube/gc-backup, or latest for
the latest backup of this cluster. Without it, the command lists the backups.

First it shows the plan, and what it does not restore. It leaves objects alone
that exist already, and lists them. It leaves out references that would get an
object deleted again, and lists them. If you interrupt it, run it again to
continue.

Exit codes: 0 done, and a complete scan found nothing left; 1 a step failed, or
something is left or not verified; 2 error: wrong usage, or the cluster cannot
be read; 3 incomplete scan with --strict; 4 not confirmed; 130 interrupted.`,
		Example: cli.Examples(`
# List the backups
kubectl gc restore

# Preview what would be restored, and what would not
kubectl gc restore 2026-11-20T08-31-07Z --dry-run

# Ask the API server whether it would accept each step
kubectl gc restore 2026-11-20T08-31-07Z --dry-run=server

# Run it, after a preview and a confirmation
kubectl gc restore 2026-11-20T08-31-07Z

# Undo the latest run on this cluster
kubectl gc restore latest

# Only some of its objects
kubectl gc restore 2026-11-20T08-31-07Z -n shop deployment/web configmap/web-settings`),
		Args:              cobra.ArbitraryArgs,
		RunE:              c.run,
		ValidArgsFunction: c.completeBackup,
	}
	c.options.AddFlagsWithoutBackup(cmd)
	flags := cmd.Flags()
	flags.Lookup("demo").Hidden = true // it has no backups
	flags.BoolVar(&c.how.Exact, "exact", false, "Restore every reference, even one that gets its object deleted again.")
	flags.BoolVar(&c.toAnotherCluster, "to-another-cluster", false, "Restore a backup of another cluster to this one.")
	return cmd
}

// run restores a backup, or of it only some objects. Without a backup it lists them all.
func (c *restoreCommand) run(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("demo") {
		return cli.Usagef("restore needs a cluster: the demo has no backups")
	}
	c.options.Scan.NeedsCluster = true
	err := c.options.Complete(cmd, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return c.list(cmd.Context())
	}
	ctx := cmd.Context()
	if c.wanted, err = cli.ParseTargets(args[1:]); err != nil {
		return err
	}
	if slices.ContainsFunc(c.wanted, func(t cli.Target) bool { return t.Name == "" }) {
		return cli.Usagef("name each object of the backup as TYPE/NAME")
	}
	c.options.NoBackup = true // a restoration deletes nothing, and keeps a journal
	saved, err := c.open(ctx, args[0])
	if err != nil {
		return err
	}
	defer saved.Close()
	if err := c.checkNamespace(saved); err != nil {
		return err
	}
	if err := c.checkCluster(ctx, saved.Header); err != nil {
		return err
	}
	if c.options.Mutates() {
		if c.journal, err = saved.Journal(); err != nil {
			return err
		}
	}
	c.header, c.input, c.manager = saved.Header, readBackup(saved, c.options.Scan.Err), fieldManagers(saved.Header)
	err = c.restore(ctx)
	if closeErr := c.closeJournal(); closeErr != nil {
		fmt.Fprintf(c.options.Scan.Err, "error: close the journal of the restore: %s\n", escape.Short(closeErr.Error(), 2000))
		err = cmp.Or[error](err, cli.ExitError(cli.ExitFound))
	}
	return err
}

// restore restores the backup that was read.
func (c *restoreCommand) restore(ctx context.Context) error {
	scope, err := c.scope(ctx)
	if err != nil {
		return err
	}
	job := cli.Job{Options: c.options, Scope: scope, Plan: c.plan, Remaining: c.planRemaining, Recreate: c.recreate}
	seen, err := cli.Scan(ctx, job)
	if err != nil {
		return err
	}
	if c.unproven != nil && !cli.IsOf(c.header, seen.Snapshot) {
		return c.unproven
	}
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	c.warnOfExact()
	if n := c.restoration.AlreadyCreated; n > 0 && c.options.ForPerson() {
		fmt.Fprintf(c.options.Scan.Err, "An earlier restore created %d of the objects.\n", n)
	}
	return cli.Run(ctx, job, now)
}

// checkNamespace returns an error if the backup has nothing in the namespace of -n. The cluster
// may lack it: it may have been deleted, too.
func (c *restoreCommand) checkNamespace(saved *backup.Backup) error {
	scan := c.options.Scan
	scan.NamespaceMayBeMissing = true
	in := make([]string, len(saved.Entries))
	for i, e := range saved.Entries {
		in[i] = e.Object.Namespace
	}
	return cli.RequireNamespaceOfBackup(scan.Config.Namespace(), in)
}

// checkCluster returns an error if the backup is not of the current cluster, unless
// --to-another-cluster is given.
func (c *restoreCommand) checkCluster(ctx context.Context, h backup.Header) error {
	if c.options.Scan.From != "" || c.toAnotherCluster {
		return nil
	}
	const (
		useFlag    = "to restore it to this cluster, use --to-another-cluster"
		anyCluster = "to restore it to this cluster, whichever it is of, use --to-another-cluster"
	)
	switch {
	case h.ClusterUID == "" && h.Mode == backup.FromLog:
		return cli.WithHint(cli.Usagef("the backup is from an audit log, which does not say which cluster it is from"), anyCluster)
	case h.ClusterUID == "":
		err := cli.WithHint(
			cli.Usagef("the backup does not record its cluster; its server was %s (context %s)", cli.Quote(h.Server), cli.Quote(h.Context)),
			"the run could not read Namespace kube-system, or an older version wrote the backup; "+anyCluster,
		)
		if len(h.Witnesses) > 0 {
			c.unproven, err = err, nil
		}
		return err
	}
	live, err := c.options.Scan.Connect()
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
		_, server, err := c.options.Scan.ContextAndServer()
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
func (c *restoreCommand) filter(served []snapshot.Type) (func(object.Identity) bool, error) {
	namespace := c.options.Scan.Config.Namespace()
	if namespace == "" && len(c.wanted) == 0 {
		return nil, nil
	}
	if err := cli.ResolveTargets(c.wanted, served, c.options.Scan.Source()); err != nil { // its definition may be in the backup
		return nil, cli.WithHint(err, "if its CustomResourceDefinition is in the backup, restore that first")
	}
	mapper := snapshot.NewMapper(served)
	in := func(o object.Identity) bool { return namespace == "" || o.Namespace == namespace }
	names := func(t cli.Target, o object.Identity) bool {
		m, ok := mapper.Map(o.APIVersion, o.Kind)
		return ok && t.Name == o.Name && t.Type.GroupResource() == m.Type.GroupResource()
	}
	var has []object.Identity
	for _, o := range c.input.Objects() {
		if in(o) {
			has = append(has, o)
		}
	}
	for _, t := range c.wanted {
		if !slices.ContainsFunc(has, func(o object.Identity) bool { return names(t, o) }) {
			return nil, cli.Usagef("the backup has no %s%s; it has: %s", cli.Quote(t.Word+"/"+t.Name), cli.InNamespace(namespace), cli.NameList(has, maxNamed))
		}
	}
	return func(o object.Identity) bool {
		return in(o) && (len(c.wanted) == 0 || slices.ContainsFunc(c.wanted, func(t cli.Target) bool { return names(t, o) }))
	}, nil
}

// maxNamed is how many objects of a backup an error names.
const maxNamed = 8
