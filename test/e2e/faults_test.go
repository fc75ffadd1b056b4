package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// TestUnderFaults runs commands that change a cluster on random graphs while random faults
// affect requests and responses. It expects that nothing is deleted that would not be
// deleted without faults, that everything deleted is backed up, that no finalizer is removed too
// early, that every run ends, that exit code 0 means that everything was done, and that another run
// without faults reaches the same final state.
func TestUnderFaults(t *testing.T) {
	all := graphs(t, 100, 101, 102, 103, 104)
	scenes := []*scene{newScene(t)}
	// A command reads the whole cluster, so that runs side by side need one each.
	for n := 50; n < len(all) && len(scenes) < 3; n += 50 {
		scenes = append(scenes, newSceneOf(t, ordinaryOptions))
	}
	next := make(chan uint64)
	var workers sync.WaitGroup
	for _, s := range scenes {
		s.defineTestKinds()
		workers.Go(func() {
			for seed := range next {
				t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) { runUnderFaults(t, s.environment, seed) })
			}
		})
	}
	for _, seed := range all {
		next <- seed
	}
	close(next)
	workers.Wait()
}

// faultScenario is one copy of a graph, with a proxy between the program and the server
// that can inject faults.
type faultScenario struct {
	*builtGraph
	faultCommand
	tool    tool
	through http.Handler
	faults  atomic.Pointer[http.Handler] // nil: no faults
	backups string
	args    []string
	// served reports whether the server serves the kind of a reference.
	served func(partRef) bool

	completionOutput string // the output of the runs that completed the command
}

// canary is an invalid token that must not occur in any output.
const canary = "canary-4f1c9b7e2d"

// runUnderFaults runs a command on one copy of a graph without faults and on another with faults,
// and judges the difference.
func runUnderFaults(t *testing.T, ground *environment, seed uint64) {
	e := faultCommands[seed%uint64(len(faultCommands))]
	twin := newFaultScenario(ground.newScene(t), seed, e, 0)
	before := twin.state()
	baseline := &copyResult{before: before, result: twin.runWithoutFaults(twin.args...), inTime: true}
	baseline.after = twin.currentState()
	baseline.final = twin.complete()
	twin.clear()

	o := newFaultScenario(ground.newScene(t), seed, e, 1)
	for role, c := range o.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s and %s", role, before[role], c)
		}
	}
	injector := proxy.NewFaultInjector(seed, o.resources())
	wrong := injector.Wrap(o.through)
	o.faults.Store(&wrong)
	c := &copyResult{before: before}
	c.result, c.inTime = o.tool.attempt(filepath.Join(bin, "kubectl-gc"), o.faultArgs(seed)...)
	o.faults.Store(nil)
	c.after = o.currentState()
	c.backedUp = o.backedUp() // before the runs that complete the command write to the backups
	c.final = o.complete()
	for _, line := range o.violations(c, baseline) {
		t.Error(line)
	}
	t.Logf("%s: exit %d after %.1fs; %s", strings.Join(o.faultArgs(seed), " "), c.result.Code, c.result.Took.Seconds(), injector)
	if t.Failed() {
		t.Logf("its output: %s\n%s\n%s", short(c.result.Stdout), c.result.Stderr[max(0, len(c.result.Stderr)-8000):], o.completionOutput)
		t.Logf("without faults it exits with %d: %s", baseline.result.Code, short(baseline.result.Stdout))
	}
}

// newFaultScenario builds a copy of the graph, and a proxy for the program.
func newFaultScenario(s *scene, seed uint64, e faultCommand, copy int) *faultScenario {
	s.Helper()
	b := e.draw(seed)
	b.namespaces = s.fixedNamespaces()
	o := &faultScenario{builtGraph: b.build(s, copy)[0], faultCommand: e, backups: s.TempDir(), served: s.serves}
	o.tool = s.toolThroughProxy(canary, func(through http.Handler) http.Handler {
		o.through = through
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := through
			if wrong := o.faults.Load(); wrong != nil {
				answer = *wrong
			}
			answer.ServeHTTP(w, r)
		})
	})
	o.args = e.begin(o)
	return o
}

// serves reports whether the server serves the kind of a reference.
func (s *scene) serves(c partRef) bool {
	of := schema.FromAPIVersionAndKind(c.apiVersion, c.kind)
	_, err := s.mapper.RESTMapping(of.GroupKind(), of.Version)
	if meta.IsNoMatchError(err) {
		return false
	}
	s.must(err)
	return true
}

// runWithoutFaults runs the program. It must exit with 0 or 1.
func (o *faultScenario) runWithoutFaults(args ...string) result {
	o.Helper()
	r := o.tool.gc(args...)
	if r.Code < 0 || r.Code > 1 {
		o.Fatalf("without faults, kubectl gc %s exits with %d: %s%s", r.output(), r.Code, short(r.Stdout), short(r.Stderr))
	}
	return r
}

// complete runs the commands that complete this one, without faults, and returns the final state.
func (o *faultScenario) complete() graphState {
	o.Helper()
	for _, args := range o.faultCommand.finish(o) {
		r := o.runWithoutFaults(args...)
		o.completionOutput += fmt.Sprintf("then %s: %s%s\n", r.output(), short(r.Stdout), short(r.Stderr))
	}
	return o.currentState()
}

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
	// mustBackUp reports whether an object that changes between these states must be in the backup.
	mustBackUp func(before, after partState) bool
}

var faultCommands = []faultCommand{
	{
		command: "collect",
		// A dependent that one run orphans while a later run removes its invalid references
		// stays, while a single run would delete it: see avoidConcurrentResults.
		draw: func(seed uint64) *blueprint {
			b := drawGarbage(seed, objectsUnderFaults, small)
			return b.avoidConcurrentResults().avoidOrphansUnderWrongName().blockHeldOwners().dropOrphanFinalizers()
		},
		begin:      func(o *faultScenario) []string { return o.mutatingArgs("collect") },
		finish:     func(o *faultScenario) [][]string { return [][]string{o.args} },
		mustBackUp: wasDeletedNow,
	},
	{
		command: "delete --client-side",
		draw:    drawCalm,
		begin: func(o *faultScenario) []string {
			cascade := []string{"background", "foreground", "orphan"}[o.dice.IntN(3)]
			return append(o.mutatingArgs("delete", "-n", o.namespaces[0], "--client-side", "--cascade="+cascade, "--ignore-not-found"), o.targets()...)
		},
		// If the targets are deleted already, their dependents are garbage.
		finish:     func(o *faultScenario) [][]string { return [][]string{o.args, o.mutatingArgs("collect")} },
		mustBackUp: wasDeletedNow,
	},
	{
		command:    "repair",
		draw:       func(seed uint64) *blueprint { return drawGarbage(seed, objectsUnderFaults, small).distinguish() },
		begin:      func(o *faultScenario) []string { return o.mutatingArgs("repair") },
		finish:     func(o *faultScenario) [][]string { return [][]string{o.args} },
		mustBackUp: func(before, after partState) bool { return before.String() != after.String() },
	},
	{
		command: "restore",
		// An object without any field set has no field manager: see docs/restore.md.
		draw: func(seed uint64) *blueprint {
			b := drawCalm(seed)
			b.labelled = true
			return b
		},
		begin: func(o *faultScenario) []string {
			o.runWithoutFaults(append(o.mutatingArgs("delete", "-n", o.namespaces[0], "--client-side"), o.targets()...)...)
			return []string{"restore", onlyFolder(o, o.backups), "--yes"}
		},
		finish:     func(o *faultScenario) [][]string { return [][]string{o.args} },
		mustBackUp: func(partState, partState) bool { return false },
	},
}

// wasDeletedNow reports whether the object was deleted, or its deletion began, during the run.
func wasDeletedNow(before, after partState) bool {
	return !before.Gone && !before.Terminating && (after.Gone || after.Terminating)
}

// drawCalm returns a blueprint in which all references of dependents are valid.
func drawCalm(seed uint64) *blueprint {
	b := newBlueprint(seed, objectsUnderFaults, 100, calm)
	b.dropOtherOwnersOfOrphans()
	return b.blockHeldOwners()
}

// blockHeldOwners makes every dependent of an object held by a finalizer, and every held
// dependent, block its owner. An owner with a dependent that cannot be judged has to wait for it.
// Otherwise the result depends on the run: by the next run the owner may be gone, or terminating
// and held, and then it is a valid owner again.
func (b *blueprint) blockHeldOwners() *blueprint {
	held := func(p part) bool { return slices.Contains(p.finalizers, hold) }
	for i := range b.parts {
		for k := range b.parts[i].refs {
			c := &b.parts[i].refs[k]
			if c.uid >= 0 && (held(b.parts[i]) || held(b.parts[c.uid])) {
				c.blocks = true
			}
		}
	}
	return b
}

// dropOrphanFinalizers removes the orphan finalizer from every part that is not being deleted and
// has an owner in the graph. If such a part is deleted while that owner waits for it, its own
// dependents are deleted first (foreground); if it is deleted later, they stay (orphan). Which of
// both happens is nondeterministic in the real collector, too.
func (b *blueprint) dropOrphanFinalizers() *blueprint {
	for i := range b.parts {
		p := &b.parts[i]
		if p.change == lives && slices.ContainsFunc(p.refs, func(c partRef) bool { return c.uid >= 0 }) {
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
		for k := range b.parts[i].refs {
			if c := &b.parts[i].refs[k]; c.uid >= 0 && c.name != c.uid {
				c.name = b.nonexistent()
			}
		}
	}
	return b
}

// mutatingArgs returns the arguments of a command that changes something, without confirmation.
func (o *faultScenario) mutatingArgs(args ...string) []string {
	return append(args, "--yes", "--backup-dir", o.backups)
}

// faultArgs returns the arguments of the run with faults. Most runs use pages smaller than a
// type's list, so that lists can fail after their first page. The number of concurrent requests
// is random, and the log is at its most verbose.
func (o *faultScenario) faultArgs(seed uint64) []string {
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

// targets returns some objects of the first namespace as arguments: owners if there are any.
func (o *faultScenario) targets() []string {
	var owners, others []string
	for _, n := range o.dice.Perm(len(o.parts)) {
		p := o.parts[n]
		owns := slices.ContainsFunc(o.parts, func(other part) bool {
			return slices.ContainsFunc(other.refs, func(c partRef) bool { return c.uid == n })
		})
		switch typed := o.resourceOfPart(n) + "/" + o.name(n); {
		case p.namespace != 0 || p.change != lives || p.kind == "Event" || slices.Contains(owners, typed):
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

// resourceOfPart returns the resource of a part, with its group.
func (o *faultScenario) resourceOfPart(n int) string {
	o.Helper()
	m, err := o.mapping(o.objects[n])
	o.must(err)
	return m.Resource.GroupResource().String()
}

// resources returns the resources of all parts, without their groups, sorted. A resource of many
// parts occurs often, and is therefore likely to be the one whose lists always fail.
func (o *faultScenario) resources() []string {
	var out []string
	for n := range o.parts {
		plural, _, _ := strings.Cut(o.resourceOfPart(n), ".")
		out = append(out, plural)
	}
	slices.Sort(out)
	return out
}

// fixedNamespaces returns the namespaces in which all these graphs are built one after the other.
// Their names are fixed so that all runs of a seed request the same paths.
func (s *scene) fixedNamespaces() []string {
	s.Helper()
	var out []string
	for _, name := range []string{"faults-a", "faults-b", "faults-c"} {
		ns := newObject("v1", "Namespace", "", name)
		if _, err := s.client(ns).Create(s.Context(), ns.Unstructured, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatal(err)
		}
		out = append(out, name)
	}
	return out
}

// backupFolders returns the backups of all runs.
func (o *faultScenario) backupFolders() []string {
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
