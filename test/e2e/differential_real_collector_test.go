package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestCollectBesideTheRealCollector runs collect and the real collector on one graph at the same
// time: it holds the program's first writes until the real collector's workers run.
func TestCollectBesideTheRealCollector(t *testing.T) {
	t.Parallel()
	for _, seed := range graphs(t, 4028305970)[:1] {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			theirs := &trial{scene: withRealCollector.newScene(t), blueprint: draw(seed, 220).avoidConcurrentResults().reorderCopies()}
			g := theirs.build(theirs.scene, 0)[0]
			before := g.state()

			writes, both := make(chan struct{}), make(chan struct{})
			var first sync.Once
			f := theirs.throughProxy(func(through http.Handler) []fault {
				return []fault{{writing(anyRequest), func(w http.ResponseWriter, r *http.Request) {
					first.Do(func() { close(writes) })
					<-both
					through.ServeHTTP(w, r)
				}}}
			}).allowWrites()
			p := f.start("collect", "--yes", "-o", "json", "--backup-dir", t.TempDir())
			<-writes
			theirs.switchCollector(testcluster.On)
			close(both)
			r := p.wait()
			after := theirs.awaitIdle(g)[0]
			theirs.switchCollector(testcluster.Absent)

			got := decode[collected](t, r)
			checkCollected(t, got)
			if r.Code != 0 && (r.Code != 1 || got.Summary.Failed > 0) {
				t.Errorf("it exits with %d: %s", r.Code, r.Stderr)
			}
			byStatus := map[string]int{}
			for _, s := range got.Steps {
				byStatus[s.Status]++
				if s.Status == "failed" {
					t.Errorf("%s of %s: %s", s.Action, s.Object.identity, s.Message)
				}
			}
			theirs.run(before, after)
			for _, role := range theirs.mismatches(after) {
				t.Error(theirs.history(role, g, before, after))
			}
			gone, changed := countChanges(before, after)
			t.Logf("%d objects deleted, %d changed; steps by status: %v", gone, changed, byStatus)
		})
	}
}
