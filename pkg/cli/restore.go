package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type restoreFlags struct {
	*changing
	exact     bool
	elsewhere bool
}

func newRestore(from *source) *cobra.Command {
	f := &restoreFlags{changing: newChanging("restore", from)}
	cmd := &cobra.Command{
		Use:   "restore BACKUP [TYPE/NAME ...]",
		Short: "Make again what a run deleted, from its backup",
		Long: `Make again what a run deleted, from the backup that it has left: owners first, and
every owner reference led to what its owner is now. References that the run took
from objects which are still there are put back, too.

BACKUP is a folder, or the name of one below ~/.kube/gc-backup/CONTEXT. Without
it, those that are there are listed.

First it shows the plan, and what does not come back. What is there already is
left alone, and named. No object gets a reference for which the collector would
delete it: such references are left out, and named. A restoration that was cut
off goes on where it was when it is run again.

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left or not verified, 2 no answer, 3 an incomplete scan with --strict,
4 not confirmed, 130 interrupted.`,
		Example: examples(`
# Which backups are there?
kubectl gc restore

# What would come back, and what would not?
kubectl gc restore 2026-11-20T08-31-07Z --dry-run

# Would the server let us?
kubectl gc restore 2026-11-20T08-31-07Z --dry-run=server

# Do it, after a look at the preview
kubectl gc restore 2026-11-20T08-31-07Z

# Only a part of it
kubectl gc restore 2026-11-20T08-31-07Z -n shop deployment/web configmap/flags`),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd, args); err != nil {
				return err
			}
			if len(args) == 0 {
				return f.list()
			}
			return f.run(cmd.Context(), args[0], args[1:])
		},
		ValidArgsFunction: f.completeBackup,
	}
	flags := cmd.Flags()
	f.addReadingFlags(flags)
	f.addAskingFlags(flags)
	flags.BoolVar(&f.exact, "exact", false, "put every reference back as it was, even where the collector will delete the object for it")
	flags.BoolVar(&f.elsewhere, "to-another-cluster", false, "restore the backup of another cluster here")
	addOutputFlags(cmd, &f.output, f.formats)
	f.completeFlags(cmd)
	return cmd
}

func (f *restoreFlags) run(ctx context.Context, name string, words []string) error {
	wanted, err := parseTargets(words)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(wanted, func(t target) bool { return t.name == "" }) {
		return usagef("name every part of a backup as TYPE/NAME")
	}
	f.noBackup = true // nothing is deleted
	saved, err := f.open(name)
	if err != nil {
		return err
	}
	defer saved.Close()
	if err := f.checkCluster(ctx, saved.Header); err != nil {
		return err
	}
	r := &reviver{restoreFlags: f, saved: saved, made: map[types.UID]types.UID{}}
	if f.acts() {
		if r.journal, err = saved.Journal(); err != nil {
			return err
		}
		defer r.close()
	}
	return r.run(ctx, wanted)
}

// open finds the folder that a word means.
func (f *restoreFlags) open(name string) (*backup.Backup, error) {
	saved, err := f.find(name)
	if errors.As(err, new(*backup.Exposed)) {
		return nil, &hinted{err, "whoever may write there decides what you restore: if you trust it, take that right away with chmod -R go-w, or copy it to a folder of your own and restore that"}
	}
	return saved, err
}

func (f *restoreFlags) find(name string) (*backup.Backup, error) {
	if filepath.Base(name) != name || isFolder(name) {
		return backup.Open(name)
	}
	root, err := f.backupsHere()
	if err != nil {
		return nil, err
	}
	saved, err := backup.Open(filepath.Join(root, name))
	if err != nil {
		return nil, &hinted{err, "name a folder, or one of those that are listed by: " + called + " restore"}
	}
	return saved, nil
}

// only limits a restoration to the namespace that -n names, and to what was named.
func (f *restoreFlags) only(wanted []target, served []snapshot.Type) (func(object.Identity) bool, error) {
	namespace := f.config.Namespace()
	if namespace == "" && len(wanted) == 0 {
		return nil, nil
	}
	kinds := map[string]target{}
	for _, t := range wanted {
		found := snapshot.Find(served, t.word)
		if len(found) == 0 { // its definition may be what is restored
			return nil, &hinted{usagef("there is no resource type %s here", quoted(t.word)), "a type whose definition is in the backup is there once that is restored"}
		}
		t.of = found[0]
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
		return ok && named && t.of.GroupResource() == m.Type.GroupResource()
	}, nil
}
