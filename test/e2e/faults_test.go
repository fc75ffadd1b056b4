package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// TestUnderFaults runs commands that change a cluster on random graphs while random faults
// affect requests and responses. It expects that nothing is deleted that would not be
// deleted without faults, that everything deleted is backed up, that every run ends, and
// that another run without faults reaches the same final state.
func TestUnderFaults(t *testing.T) {
	grounds := concurrentEnvironments(t, positiveNumber(t, concurrencyVariable))
	c, seeds := newFaultRuns(t, runUnderFaults, defaultRuns, proxy.Kinds())
	c.runAll(t, grounds, seeds)
	t.Logf("\n%s", c.stats)
	if n := len(c.stats.Failing); n > 0 { // includes failed runs of a series that was continued
		t.Errorf("%d runs failed", n)
	}
	if page := os.Getenv(pageVariable); page != "" {
		if err := c.stats.write(page, "faults", faultsSection); err != nil {
			t.Fatal(err)
		}
	}
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
	// kinds reports whether the kind of a reference is known and namespaced.
	kinds func(partRef) (namespaced, known bool)
	// hidden reports whether a fault may have hidden a part from the program.
	hidden func(part int) bool

	completionOutput string // the output of the runs that completed the command
}

// canary is an invalid token that must not occur in any output.
const canary = "canary-4f1c9b7e2d"

// runUnderFaults runs a command on one copy of a graph without faults and on another with faults,
// and evaluates the difference.
func runUnderFaults(t *testing.T, ground *environment, seed uint64) *verdict {
	e := faultCommands[seed%uint64(len(faultCommands))]
	twin := newFaultScenario(ground.newScene(t), seed, e, 0)
	before := twin.state()
	baseline := &copyResult{before: before, result: twin.runWithoutFaults(twin.args...)}
	baseline.after = twin.currentState()
	baseline.final = twin.complete()
	twin.clear()

	o := newFaultScenario(ground.newScene(t), seed, e, 1)
	for role, c := range o.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s and %s", role, before[role], c)
		}
	}
	m := proxy.NewFaultInjector(seed, o.resources(), nil)
	v := &verdict{seed: seed, command: e.command, objects: len(before), copyResult: &copyResult{before: before, faults: m}}
	wrong := m.Wrap(o.through)
	o.faults.Store(&wrong)
	o.hidden = func(n int) bool {
		mapping, err := o.mapping(o.objects[n])
		o.must(err)
		return m.MayHaveHidden(mapping.Resource.GroupResource())
	}
	v.result, v.inTime = o.tool.attempt(o.program(), o.faultArgs(seed)...)
	o.faults.Store(nil)
	v.after = o.currentState()
	v.backedUp = o.backedUp() // before the runs that complete the command write to the backups
	v.final = o.complete()
	o.judge(v, baseline)
	t.Logf("%s\n%s: exit %d after %.1fs; %s\n%s", strings.Join(o.faultArgs(seed), " "), e.command, v.result.Code, v.result.Took.Seconds(), m, v.counts())
	return v
}

// newFaultScenario builds a copy of the graph, and a proxy for the program.
func newFaultScenario(s *scene, seed uint64, e faultCommand, copy int) *faultScenario {
	s.Helper()
	b := e.draw(seed)
	b.namespaces = s.fixedNamespaces()
	o := &faultScenario{builtGraph: b.build(s, copy)[0], faultCommand: e, backups: s.TempDir(), kinds: s.kindScope}
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

// kindScope reports whether the server serves a kind, and whether it is namespaced.
func (s *scene) kindScope(c partRef) (namespaced, known bool) {
	of := schema.FromAPIVersionAndKind(c.apiVersion, c.kind)
	m, err := s.mapper.RESTMapping(of.GroupKind(), of.Version)
	if meta.IsNoMatchError(err) {
		return false, false
	}
	s.must(err)
	return m.Scope.Name() == meta.RESTScopeNameNamespace, true
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
