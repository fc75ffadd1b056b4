package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inFlight is how many objects a deleted owner leaves to the collector.
const inFlight = 100

// TestAuditSettleLeavesOutWhatTheCollectorProcesses holds the first request for an object again
// until the real collector has processed all of them.
func TestAuditSettleLeavesOutWhatTheCollectorProcesses(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("settle")
	objects := s.createGarbage(ns, inFlight)

	readAgain, processed := make(chan struct{}), make(chan struct{})
	var first sync.Once
	f := s.throughProxy(func(through http.Handler) []fault {
		orphans := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps/orphan-") }
		return []fault{{orphans, func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() { close(readAgain) })
			<-processed
			through.ServeHTTP(w, r)
		}}}
	})
	p := f.start("audit", "-n", ns, "--settle", "1ms", "-o", "json")
	<-readAgain
	s.startRealCollector()
	s.await("the collector to delete the garbage", func(context.Context) (bool, error) {
		for _, o := range objects {
			if !s.gone(o) {
				return false, nil
			}
		}
		return true, nil
	})
	close(processed)

	got := decode[report](t, p.wait().exits(t, 0))
	if diff := cmp.Diff(&settled{After: "1ms", InProgress: inFlight}, got.Settled); diff != "" || len(got.Findings) > 0 {
		t.Errorf("%d findings, and read again:\n%s", len(got.Findings), diff)
	}
}

func TestAuditSettleReportsWhatNothingProcesses(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("settle")
	s.createGarbage(ns, inFlight)

	s.gc("audit", "-n", ns).exits(t, 1).warns(t, "A running garbage collector may be about to delete or change 100 of these objects. To report only what it leaves: kubectl gc audit --settle 30s")
	s.gc("audit", "-n", ns, "--settle", "20ms").exits(t, 1).
		shows(t, "Read again 20ms after the scan: 100 objects are unchanged, so no garbage collector seems to be at work.")
	got := decode[report](t, s.gc("audit", "-n", ns, "--settle", "20ms", "-o", "json").exits(t, 1))
	if diff := cmp.Diff(&settled{After: "20ms", Remaining: inFlight}, got.Settled); diff != "" {
		t.Errorf("read again:\n%s", diff)
	}
	for _, f := range got.Findings {
		if f.Evidence == nil || f.Evidence.Reason != "NotProcessed" || !strings.HasSuffix(f.Message, "; 20ms later it had not done so") {
			t.Errorf("%s has the evidence %+v", f, f.Evidence)
		}
	}
	if len(got.Findings) != inFlight {
		t.Errorf("there are %d findings, want %d", len(got.Findings), inFlight)
	}
}

func TestAuditBaselineReportsOnlyWhatIsNew(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("baseline")
	s.createGarbage(ns, 3)
	known := s.writeFile("known.json", s.gc("audit", "-n", ns, "-o", "json").exits(t, 1).Stdout)

	s.gc("audit", "-n", ns, "--baseline", known).exits(t, 0).
		shows(t, "Nothing to report in 3 objects", "In the baseline, so not reported: 3 errors.")
	s.create(secret(ns, "new", ownedBy(missingOwner())))
	s.gc("audit", "-n", ns, "--baseline", known).exits(t, 1).
		shows(t, "Secret/new", "1 error in 4 objects", "In the baseline, so not reported: 3 errors.")
}
