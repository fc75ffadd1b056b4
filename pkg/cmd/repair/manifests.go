package repair

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// notWithFiles are the flags that have no meaning for manifests: nothing in the cluster changes.
var notWithFiles = []string{
	"selector", "rule", "reference", "all-namespaces", "dry-run", "yes", "confirm", "timeout", "rate", "backup-dir", "no-backup", "output", "from", "demo",
}

// manifestRepair repairs the references of manifests before they are applied.
type manifestRepair struct {
	only      repair.Fix // empty: the one that fits
	documents []*manifest.Documents
	objects   [][]manifest.Owned  // of each of the documents
	placed    [][]repair.Manifest // the same, in the cluster
	messages  []string
	changed   int // references
	left      int // references that are bad, and stay
}

// checkFiles returns an error if another flag is given that has no meaning for the manifests of -f.
func (c *repairCommand) checkFiles() error {
	if len(c.files) == 0 {
		return nil
	}
	return cli.RefuseFlags(c.given, "-f cannot be combined with --%s: nothing in the cluster is changed", notWithFiles...)
}

// repairManifests writes the manifests of -f to standard output, with references that suit the
// cluster as it is, and what was changed to standard error.
func (c *repairCommand) repairManifests(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("-f cannot be combined with targets")
	}
	if err := c.checkFix(); err != nil {
		return err
	}
	s := c.options.Scan
	s.NeedsCluster = true
	m := &manifestRepair{only: c.repairs.Fix}
	if err := m.read(c.files, s.In); err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	if len(slices.Concat(m.objects...)) == 0 {
		return cli.Usagef("the files contain no object")
	}
	namespace, named, err := s.Namespace()
	if err != nil {
		return err
	}
	s.NamespaceMayBeMissing = !named || m.creates(namespace)
	served, err := s.Types(ctx)
	if err != nil {
		return err
	}
	seen, _, err := s.Scan(ctx, m.scope(served, namespace))
	if err != nil {
		return err
	}
	if err := m.repair(seen); err != nil {
		return err
	}
	for _, d := range m.documents {
		if err := d.Write(s.Out); err != nil {
			return fmt.Errorf("write the manifests: %w", err)
		}
	}
	for _, message := range m.messages {
		fmt.Fprintln(s.Err, message)
	}
	left := "none left to fix"
	if m.left > 0 {
		left = wording.Thousands(m.left) + " left to fix"
	}
	fmt.Fprintf(s.Err, "Fixed %s; %s. %s\n", wording.Count(m.changed, "reference"), left, wording.Scan(seen.Complete()))
	s.WarnOfGaps(seen)
	if err := s.StrictExit(seen); err != nil || m.left == 0 {
		return err
	}
	return cli.ExitError(cli.ExitFound)
}

// read reads the files; - is standard input.
func (m *manifestRepair) read(names []string, stdin io.Reader) error {
	for _, name := range names {
		in := stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close() // read only
			in = f
		}
		d, err := manifest.ReadDocuments(in)
		if err != nil {
			return fmt.Errorf("%s: %w", escape.Short(name, 200), err)
		}
		objects, err := d.Objects()
		if err != nil {
			return fmt.Errorf("%s: %w", escape.Short(name, 200), err)
		}
		m.documents, m.objects = append(m.documents, d), append(m.objects, objects)
	}
	return nil
}

// creates reports whether one of the manifests is the Namespace with that name.
func (m *manifestRepair) creates(namespace string) bool {
	return slices.ContainsFunc(slices.Concat(m.objects...), func(o manifest.Owned) bool { return o.IsNamespace() && o.Name == namespace })
}

// inCluster returns a manifest as the object that the cluster will have. Without a namespace of
// its own it is in the given one.
func inCluster(o manifest.Owned, mapper *snapshot.Mapper, namespace string) repair.Manifest {
	out := repair.Manifest{Namespace: o.Namespace, Owners: o.Owners}
	if t, known := mapper.Map(o.APIVersion, o.Kind); known && !t.Type.Namespaced {
		out.Namespace = ""
	} else if out.Namespace == "" && known {
		out.Namespace = namespace
	}
	return out
}

// scope places the manifests in a cluster that serves these types, and returns their namespaces,
// where namespaced owners must be, and their owners, so that the scan looks there.
func (m *manifestRepair) scope(served []snapshot.Type, namespace string) scan.Scope {
	out := scan.Scope{Widen: scan.WidenTargets}
	var owned []*object.Object
	view := snapshot.NewView(&snapshot.Snapshot{Types: served})
	m.placed = make([][]repair.Manifest, len(m.objects))
	for d, objects := range m.objects {
		for _, o := range objects {
			placed := inCluster(o, view.Mapper, namespace)
			m.placed[d] = append(m.placed[d], placed)
			owned = append(owned, &object.Object{Identity: object.Identity{Namespace: placed.Namespace}, Owners: placed.Owners})
			if placed.Namespace != "" {
				out.Namespaces = append(out.Namespaces, placed.Namespace)
			}
		}
	}
	slices.Sort(out.Namespaces)
	out.Namespaces = slices.Compact(out.Namespaces)
	out.Targets = view.UnverifiedOwners(owned, func(types.UID) *object.Object { return nil })
	return out
}

// repair changes the references in the documents.
func (m *manifestRepair) repair(seen *snapshot.Snapshot) error {
	for d, objects := range m.objects {
		for i, repairs := range repair.ForManifests(seen, m.placed[d]) {
			o := objects[i]
			o.Namespace = m.placed[d][i].Namespace
			after, changed := m.references(o, repairs)
			if !changed {
				continue
			}
			if err := m.documents[d].SetOwners(i, after); err != nil {
				return fmt.Errorf("rewrite %s: %w", o.Identity, err)
			}
		}
	}
	return nil
}

// references returns the references of an object as they shall be, nil for those to remove, and
// records what is done.
func (m *manifestRepair) references(o manifest.Owned, repairs repair.ManifestRepairs) (after []*object.Reference, changed bool) {
	for k := range o.Owners {
		j, r := repairs.Judgements[k], repairs.Repairs[k]
		owner := j.Owner(o.Owners[k])
		fix := r.Limited(m.only)
		if r.Optional && m.only != repair.UpdateVersion {
			fix = repair.None
		}
		switch fix {
		case repair.Unlink:
			after = append(after, nil)
			m.record(o, "removed", reason.ReferencesDropped{Owners: []reason.Owner{owner}, Kept: reason.Kept{Ownerless: len(o.Owners) == 1, Unresolved: len(o.Owners) > 1}})
		case repair.Relink, repair.UpdateVersion:
			after = append(after, &r.Becomes)
			m.record(o, "changed", reason.ReferencesRepaired{References: []reason.Repaired{{Owner: owner, Version: r.Becomes.APIVersion, Relinked: fix == repair.Relink, Served: r.Optional}}})
		default:
			after = append(after, &o.Owners[k])
			if j.Verdict == collector.VerdictSolid {
				continue
			}
			m.left++
			if r.Found.State != "" {
				owner.Found = r.Found
			}
			m.say(o, "left", reason.NotRepaired.Of([]reason.Unrepaired{{Owner: owner, ByHand: r.NeedsDecision}}))
			continue
		}
		changed = true
	}
	return after, changed
}

func (m *manifestRepair) record(o manifest.Owned, done string, why reason.Reason) {
	m.changed++
	m.say(o, done, why)
}

func (m *manifestRepair) say(o manifest.Owned, done string, why reason.Reason) {
	where := escape.Line(o.String())
	if o.Namespace != "" {
		where += " -n " + escape.Word(o.Namespace)
	}
	m.messages = append(m.messages, fmt.Sprintf("%s: %s: %s", where, done, escape.Sentence(why.Message())))
}
