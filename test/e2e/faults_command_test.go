package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// objectsUnderFaults is the approximate size of the graphs.
const objectsUnderFaults = 60

// faultCommand is a command to run on a random graph.
type faultCommand struct {
	command string
	draw    func(seed uint64) *blueprint
	// begin prepares the graph and returns the arguments of the command.
	begin func(*faultScenario) []string
	// finish returns the runs that complete an interrupted one.
	finish func(*faultScenario) [][]string
	// saves reports whether an object with these states must be in the backup.
	saves func(before, after condition) bool
}

var faultCommands = []faultCommand{
	{
		command: "collect",
		// What one run orphans while another drops its bad references stays, where a
		// single run deletes it: see share.
		draw: func(seed uint64) *blueprint {
			return drawGarbage(seed, objectsUnderFaults, small).share().blockHeldOwners().dropOrphanFinalizers()
		},
		begin:  func(o *faultScenario) []string { return o.changing("collect") },
		finish: func(o *faultScenario) [][]string { return [][]string{o.args} },
		saves:  wasDeletedNow,
	},
	{
		command: "delete --client-side",
		draw:    drawCalm,
		begin: func(o *faultScenario) []string {
			cascade := []string{"background", "foreground", "orphan"}[o.dice.IntN(3)]
			return append(o.changing("delete", "-n", o.spaces[0], "--client-side", "--cascade="+cascade, "--ignore-not-found"), o.targets()...)
		},
		// The targets may be gone already; their dependents are garbage then.
		finish: func(o *faultScenario) [][]string { return [][]string{o.args, o.changing("collect")} },
		saves:  wasDeletedNow,
	},
	{
		command: "repair",
		draw:    func(seed uint64) *blueprint { return drawGarbage(seed, objectsUnderFaults, small).distinguish() },
		begin:   func(o *faultScenario) []string { return o.changing("repair") },
		finish:  func(o *faultScenario) [][]string { return [][]string{o.args} },
		saves:   func(before, after condition) bool { return before.String() != after.String() },
	},
	{
		command: "restore",
		// An object without any field set has no field manager: see docs/restore.md.
		draw: func(seed uint64) *blueprint {
			b := drawCalm(seed)
			b.named = true
			return b
		},
		begin: func(o *faultScenario) []string {
			o.runs(append(o.changing("delete", "-n", o.spaces[0], "--client-side"), o.targets()...)...)
			return []string{"restore", onlyFolder(o, o.backups), "--yes"}
		},
		finish: func(o *faultScenario) [][]string { return [][]string{o.args} },
		saves:  func(condition, condition) bool { return false },
	},
}

// wasDeletedNow reports whether the deletion began during the run.
func wasDeletedNow(before, after condition) bool {
	return !before.Gone && !before.Terminating && (after.Gone || after.Terminating)
}

// drawCalm returns a blueprint in which all references of dependents are valid.
func drawCalm(seed uint64) *blueprint {
	b := begin(seed, objectsUnderFaults, 100, calm)
	b.settle()
	return b.blockHeldOwners()
}

// blockHeldOwners makes all dependents of held objects, and all held dependents, block
// their owners. An owner with a dependent that cannot be judged must wait for it: otherwise
// the owner is gone at the next run, or terminating and held, and then counts as an owner
// again.
func (b *blueprint) blockHeldOwners() *blueprint {
	held := func(p part) bool { return slices.Contains(p.finalizers, hold) }
	for i := range b.parts {
		for k := range b.parts[i].claims {
			c := &b.parts[i].claims[k]
			if c.uid >= 0 && (held(b.parts[i]) || held(b.parts[c.uid])) {
				c.blocks = true
			}
		}
	}
	return b
}

// dropOrphanFinalizers removes the orphan finalizer from every part that is not being deleted and has
// an owner in the graph. If such a part is deleted while that owner waits for it, its own
// dependents go first (foreground); if it is deleted later, they stay (orphan). The
// cluster's own collector comes to either end.
func (b *blueprint) dropOrphanFinalizers() *blueprint {
	for i := range b.parts {
		p := &b.parts[i]
		if p.fate == lives && slices.ContainsFunc(p.claims, func(c claim) bool { return c.uid >= 0 }) {
			p.finalizers = slices.DeleteFunc(p.finalizers, func(f string) bool { return f == metav1.FinalizerOrphanDependents })
		}
	}
	return b
}

// distinguish changes references with the name of one object and the UID of another. If the
// object with the UID cannot be read, repair relinks such a reference instead of removing
// it: see docs/repair.md.
func (b *blueprint) distinguish() *blueprint {
	for i := range b.parts {
		for k := range b.parts[i].claims {
			if c := &b.parts[i].claims[k]; c.uid >= 0 && c.name != c.uid {
				c.name = b.nothing()
			}
		}
	}
	return b
}

// changing returns the arguments of a command that changes something, without confirmation.
func (o *faultScenario) changing(args ...string) []string {
	return append(args, "--yes", "--backup-dir", o.backups)
}

// disturbed returns the arguments of the run with faults: mostly with pages smaller than a
// type's list, so that lists can fail after their first page; with few or many concurrent
// requests; with the full log.
func (o *faultScenario) disturbed(seed uint64) []string {
	dice := rand.New(rand.NewPCG(seed, 2))
	args := append(slices.Clone(o.args), "--timeout=20s", "--request-timeout=3s", "--concurrency="+strconv.Itoa(1+dice.IntN(12)))
	if dice.IntN(4) > 0 {
		args = append(args, "--chunk-size="+strconv.Itoa(1+dice.IntN(4)))
	}
	if dice.IntN(8) == 0 {
		args = append(args, "-v=9")
	}
	return args
}

func (o *faultScenario) program() string { return filepath.Join(o.bin, "kubectl-gc") }

// targets returns some objects of the first namespace as arguments: owners if there are
// any.
func (o *faultScenario) targets() []string {
	var owners, others []string
	for _, n := range slices.Concat(o.asked, o.dice.Perm(len(o.parts))) {
		p := o.parts[n]
		owns := slices.ContainsFunc(o.parts, func(other part) bool {
			return slices.ContainsFunc(other.claims, func(c claim) bool { return c.uid == n })
		})
		switch typed := o.plural(n) + "/" + o.name(n); {
		case p.space != 0 || p.fate != lives || p.kind == "Event" || slices.Contains(owners, typed):
		case owns:
			owners = append(owners, typed)
		default:
			others = append(others, typed)
		}
	}
	if len(owners) == 0 {
		owners = others
	}
	return owners[:min(len(owners), 8)]
}

// plural returns the resource of a part, with its group.
func (o *faultScenario) plural(n int) string {
	o.Helper()
	m, err := o.mapping(o.objects[n])
	o.must(err)
	return m.Resource.GroupResource().String()
}

// plurals returns the resources of all parts, without their groups, sorted. A resource of
// many parts occurs often, and so is likely to be the one whose lists always fail.
func (o *faultScenario) plurals() []string {
	var out []string
	for n := range o.parts {
		plural, _, _ := strings.Cut(o.plural(n), ".")
		out = append(out, plural)
	}
	slices.Sort(out)
	return out
}

// fixedSpaces returns the namespaces of all these graphs, one after the other: paths must
// be the same in every run of a seed.
func (s *scene) fixedSpaces() []string {
	s.Helper()
	var out []string
	for _, name := range []string{"faults-a", "faults-b", "faults-c"} {
		ns := of("v1", "Namespace", "", name)
		if _, err := s.at(ns).Create(s.Context(), ns.Unstructured, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatal(err)
		}
		out = append(out, name)
	}
	return out
}

// folders returns the backups of all runs.
func (o *faultScenario) folders() []string {
	o.Helper()
	entries, err := os.ReadDir(o.backups)
	if err != nil && !os.IsNotExist(err) {
		o.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Join(o.backups, e.Name()))
	}
	return out
}
