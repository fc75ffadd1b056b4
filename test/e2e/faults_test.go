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
	newScene(t)
	c, seeds := newFaultRuns(t, runUnderFaults, defaultRuns, proxy.Kinds())
	c.runAll(t, shared.environments(t, number(t, concurrencyVariable)), seeds)
	t.Logf("\n%s", c.stats)
	if n := len(c.stats.Failing); n > 0 { // of a campaign that is gone on with, too
		t.Errorf("%d runs failed", n)
	}
	if page := os.Getenv(pageVariable); page != "" {
		if err := c.stats.write(page, "faults", section); err != nil {
			t.Fatal(err)
		}
	}
}

// faultScenario is one copy of a graph, with a proxy between the program and the server
// that can inject faults.
type faultScenario struct {
	*builtGraph
	faultCommand
	way     tool
	through http.Handler
	wrong   atomic.Pointer[http.Handler] // nil while nothing goes wrong
	backups string
	args    []string
	// kinds reports whether the kind of a reference is known and namespaced.
	kinds func(claim) (namespaced, known bool)
	// hidden reports whether a fault may have hidden a part from the program.
	hidden func(part int) bool

	finishing string // what the runs said that finished it
}

// canary is an invalid token that must not occur in any output.
const canary = "canary-4f1c9b7e2d"

// runUnderFaults runs a command on one copy of a graph without faults and on another with
// faults, and evaluates the difference.
func runUnderFaults(t *testing.T, ground *environment, seed uint64) *verdict {
	e := faultCommands[seed%uint64(len(faultCommands))]
	twin := prepare(ground.newScene(t), seed, e, 0)
	before := twin.state()
	undisturbed := &copyResult{before: before, result: twin.runs(twin.args...)}
	undisturbed.after = twin.now()
	undisturbed.end = twin.finish()
	twin.clear()

	o := prepare(ground.newScene(t), seed, e, 1)
	for role, c := range o.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s and %s", role, before[role], c)
		}
	}
	m := proxy.NewFaultInjector(seed, o.plurals(), nil)
	v := &verdict{seed: seed, command: e.command, objects: len(before), copyResult: &copyResult{before: before, mischief: m}}
	wrong := m.Wrap(o.through)
	o.wrong.Store(&wrong)
	o.hidden = func(n int) bool {
		of, err := o.mapping(o.objects[n])
		o.must(err)
		return m.MayHaveHidden(of.Resource.GroupResource())
	}
	v.result, v.ended = o.way.attempt(o.program(), o.disturbed(seed)...)
	o.wrong.Store(nil)
	v.after = o.now()
	v.saved = o.kept() // before the runs that finish it save anything
	v.end = o.finish()
	o.judge(v, undisturbed)
	t.Logf("%s\n%s: exit %d after %.1fs; %s\n%s", strings.Join(o.disturbed(seed), " "), e.command, v.result.Code, v.result.Took.Seconds(), m, v.counts())
	return v
}

// prepare builds a copy of the graph and the proxy before it.
func prepare(s *scene, seed uint64, e faultCommand, copy int) *faultScenario {
	s.Helper()
	b := e.draw(seed)
	b.spaces = s.fixedSpaces()
	o := &faultScenario{builtGraph: b.build(s, copy)[0], faultCommand: e, backups: s.TempDir(), kinds: s.kinds}
	o.way = s.by(canary, func(through http.Handler) http.Handler {
		o.through = through
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := through
			if wrong := o.wrong.Load(); wrong != nil {
				answer = *wrong
			}
			answer.ServeHTTP(w, r)
		})
	})
	o.args = e.begin(o)
	return o
}

// kinds reports whether the server knows a kind, and whether it is namespaced.
func (s *scene) kinds(c claim) (namespaced, known bool) {
	of := schema.FromAPIVersionAndKind(c.apiVersion, c.kind)
	m, err := s.mapper.RESTMapping(of.GroupKind(), of.Version)
	if meta.IsNoMatchError(err) {
		return false, false
	}
	s.must(err)
	return m.Scope.Name() == meta.RESTScopeNameNamespace, true
}

// runs runs the program without faults. It must exit with 0 or 1.
func (o *faultScenario) runs(args ...string) result {
	o.Helper()
	r := o.way.gc(args...)
	if r.Code < 0 || r.Code > 1 {
		o.Fatalf("undisturbed, kubectl gc %s exits with %d: %s%s", r.said(), r.Code, short(r.Stdout), short(r.Stderr))
	}
	return r
}

// finish completes the command without faults, and returns the final state.
func (o *faultScenario) finish() ending {
	o.Helper()
	for _, args := range o.faultCommand.finish(o) {
		r := o.runs(args...)
		o.finishing += fmt.Sprintf("then %s: %s%s\n", r.said(), short(r.Stdout), short(r.Stderr))
	}
	return o.now()
}
