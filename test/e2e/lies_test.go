package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

const (
	// usualLies is the default number of runs under lies, always with the same seeds.
	usualLies = 3
	// programVariable names the program to test; by default it is built from this checkout.
	programVariable = "PROGRAM"
)

// TestUnderLies runs commands that change a cluster on random graphs while the API server answers
// with lies. It expects that nothing is done that would not be done without lies, that everything
// deleted is backed up, that no finalizer is removed without proof, and that exit code 0 means
// that everything was done.
func TestUnderLies(t *testing.T) {
	grounds := concurrentEnvironments(t, positiveNumber(t, concurrencyVariable))
	launch := filepath.Join(t.TempDir(), "launch")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", launch, "github.com/kubectl-gc/kubectl-gc/test/bench/launch").CombinedOutput(); err != nil {
		t.Fatalf("build launch: %v\n%s", err, out)
	}
	run := func(t *testing.T, ground *environment, seed uint64) *verdict {
		return runOneUnderLies(t, ground, seed, launch)
	}
	c, seeds := newFaultRuns(t, run, usualLies, proxy.Lies())
	c.stats.lies = true
	c.runAll(t, grounds, seeds)
	t.Logf("\n%s", c.stats)
	if n := len(c.stats.Failing); n > 0 { // includes failed runs of a series that was continued
		t.Errorf("%d runs failed", n)
	}
	if c.stats.Peak > maxMemory {
		t.Errorf("the program took %d MiB of memory, more than %d", c.stats.Peak>>20, maxMemory>>20)
	}
	if page := os.Getenv(pageVariable); page != "" {
		if err := c.stats.write(page, "lies", liesSection); err != nil {
			t.Fatal(err)
		}
	}
}

// maxMemory is the program's memory limit under the largest lies.
const maxMemory = 512 << 20

// lieCommands are the commands to run under lies.
var lieCommands = append(slices.Clone(faultCommands), faultCommand{
	command: "delete",
	draw:    drawCalm,
	begin: func(o *faultScenario) []string {
		cascade := []string{"background", "foreground", "orphan"}[o.dice.IntN(3)]
		return append(o.mutatingArgs("delete", "-n", o.namespaces[0], "--cascade="+cascade, "--ignore-not-found"), o.targets()...)
	},
	// No collector runs here, so the dependents of deleted objects are garbage.
	finish: func(o *faultScenario) [][]string {
		return [][]string{append(o.args, noWait), o.mutatingArgs("collect")}
	},
	mustBackUp: wasDeletedNow,
})

// noWait is for deletions that would wait for a collector.
const noWait = "--wait=false"

// runOneUnderLies runs a command on one copy of a graph without lies and on another under lies,
// and evaluates the difference.
func runOneUnderLies(t *testing.T, ground *environment, seed uint64, launch string) *verdict {
	e := lieCommands[seed%uint64(len(lieCommands))]
	e.draw = variant(seed/uint64(len(lieCommands)), e)
	twin := newFaultScenario(ground.newScene(t), seed, e, 0)
	before := twin.state()
	args := twin.args
	if e.command == "delete" {
		args = append(slices.Clone(args), noWait)
	}
	var recorder proxy.Recorder
	recording := recorder.Wrap(twin.through)
	twin.faults.Store(&recording)
	baseline := &copyResult{before: before, result: twin.runWithoutFaults(args...)}
	twin.faults.Store(nil)
	baseline.after = twin.currentState()
	baseline.final = twin.complete()
	twin.clear()

	s := ground.newScene(t)
	oldest, err := s.metadata.Resource(namespaces).List(t.Context(), metav1.ListOptions{})
	s.must(err)
	o := newFaultScenario(s, seed, e, 1)
	for role, c := range o.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s and %s", role, before[role], c)
		}
	}
	facts := o.facts(before, oldest.ResourceVersion)
	facts.Requests = recorder.Requests()
	if e.command == "delete" {
		facts.Requests = append(facts.Requests, proxy.Watch...)
	}
	l := proxy.NewLiar(seed, facts)
	v := &verdict{seed: seed, command: e.command, objects: len(before), copyResult: &copyResult{before: before, liar: l}}
	o.hidden = func(n int) bool {
		of, err := o.mapping(o.objects[n])
		o.must(err)
		return l.MayHaveHidden(of.Resource.GroupResource())
	}
	if seed%8 == 0 {
		facts.Requests = append(facts.Requests, proxy.Tables...)
		o.runTree(v, proxy.NewLiar(seed+1, facts))
	}
	lying := l.Wrap(o.through)
	o.faults.Store(&lying)
	figures := filepath.Join(o.TempDir(), "figures")
	line := append([]string{figures, cmp.Or(os.Getenv(programVariable), o.program())}, o.argsUnderLies(seed)...)
	v.result, v.inTime = o.tool.attempt(launch, line...)
	v.peak = peakIn(figures)
	o.faults.Store(nil)
	v.after = o.currentState()
	v.backedUp = o.backedUp() // before the runs that complete the command write to the backups
	v.final = o.complete()
	o.judge(v, baseline)
	t.Logf("%s\n%s: exit %d (without lies %d) after %.1fs, %d MiB; %s\n%s", strings.Join(o.argsUnderLies(seed), " "), e.command, v.result.Code, baseline.result.Code, v.result.Took.Seconds(), v.peak>>20, l, v.counts())
	return v
}

// variant returns a function that draws the graph of a command: in every second run without
// foreign finalizers, and in every second pair of runs so large that whole lists are read for the
// backup.
func variant(n uint64, e faultCommand) func(seed uint64) *blueprint {
	return func(seed uint64) *blueprint {
		b := e.draw(seed)
		if n%2 == 0 {
			b.removeForeignFinalizers()
		}
		if n/2%2 == 0 {
			b.addManyDependents()
		}
		return b
	}
}

// addManyDependents adds an owner with many dependents of one type, which the command has
// to delete.
func (b *blueprint) addManyDependents() {
	owner := b.addAs(configMap, 0)
	b.requested = append(b.requested, owner)
	for range largeList {
		c := partRef{apiVersion: "v1", kind: "ConfigMap", name: owner, uid: owner}
		if b.percentValid < 100 {
			c.name, c.uid = b.nonexistent(), b.nonexistent()
		}
		b.addAs(secret, 0, c)
	}
}

// largeList is the number of objects of a type in a namespace from which on the backup reads them
// with a list, not with one GET each.
const largeList = 12

// removeForeignFinalizers removes all foreign finalizers from the blueprint, so that a command
// can complete.
func (b *blueprint) removeForeignFinalizers() {
	for i := range b.parts {
		p := &b.parts[i]
		p.finalizers = slices.DeleteFunc(p.finalizers, func(f string) bool { return f == hold })
		if p.change == inBackground && len(p.finalizers) == 0 {
			p.change = lives
		}
	}
}

// facts returns the Facts about this graph.
func (o *faultScenario) facts(now graphState, before string) proxy.Facts {
	o.Helper()
	out := proxy.Facts{CustomGroup: customGroup, OldResourceVersion: before, Owners: map[types.UID]bool{}}
	owns := make([]bool, len(o.parts))
	for _, p := range o.parts {
		for _, c := range p.refs {
			if c.uid >= 0 {
				owns[c.uid] = true
			}
		}
	}
	for n, p := range o.parts {
		if now[roleOf(n)].Gone {
			continue
		}
		m, err := o.mapping(o.objects[n])
		o.must(err)
		out.Objects = append(out.Objects, proxy.Object{UID: o.uid(n), Group: m.Resource.Group, Resource: m.Resource.Resource})
		for _, c := range p.refs {
			if !owns[n] && o.solid(n, c) { // a lie leaves out only objects that own nothing
				out.Owners[o.uid(c.uid)] = true
			}
		}
	}
	if len(out.Objects) == 0 {
		out.Objects = []proxy.Object{{UID: "nobody", Resource: "configmaps"}}
	}
	return out
}

// argsUnderLies returns the arguments of the run under lies.
func (o *faultScenario) argsUnderLies(seed uint64) []string {
	dice := rand.New(rand.NewPCG(seed, 4))
	timeout := "--timeout=20s"
	if o.command == "delete" {
		timeout = "--timeout=2s"
	}
	args := append(slices.Clone(o.args), timeout, "--request-timeout=10s", "--concurrency="+strconv.Itoa(1+dice.IntN(12)))
	if dice.IntN(4) > 0 {
		args = append(args, "--chunk-size="+strconv.Itoa(1+dice.IntN(4)))
	}
	if dice.IntN(8) == 0 {
		args = append(args, "-v=9")
	}
	return args
}

// runTree runs tree under lies, because it requests Tables and no command that changes something
// does.
func (o *faultScenario) runTree(v *verdict, l *proxy.Liar) {
	o.Helper()
	lying := l.Wrap(o.through)
	o.faults.Store(&lying)
	r, ended := o.tool.attempt(o.program(), "tree", "-n", o.namespaces[0])
	if !ended || r.Code < 0 || r.Code > 2 || strings.Contains(r.Stderr, "goroutine ") || strings.Contains(r.Stdout+r.Stderr, canary) {
		v.other = append(v.other, fmt.Sprintf("tree ended: %t, with exit code %d: %s", ended, r.Code, short(r.Stderr)))
	}
	v.tables = l
}

// peakIn returns the peak memory that launch wrote to a file; 0 if there is none.
func peakIn(file string) (peak int64) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	var wall, cpu int64
	_, _ = fmt.Sscan(string(content), &wall, &cpu, &peak)
	return peak
}
