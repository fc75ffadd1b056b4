package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// follow audits a scan that was made some time after the first one, and returns the changes in
// words.
func follow(t *testing.T, tracker *audit.Tracker, seen *snapshot.Snapshot, after time.Duration) (report *audit.Report, changes []string) {
	t.Helper()
	seen.Taken = st.Taken.Add(after)
	g := graph.New(seen)
	report, err := audit.Run(collector.NewJudge(g), audit.Options{StuckAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tracker.Update(report, g) {
		if !c.Time.Equal(seen.Taken) {
			t.Errorf("the change is at %s, want %s", c.Time, seen.Taken)
		}
		words := string(c.Type) + " " + c.Finding.Rule + " " + c.Finding.Object.Name
		if c.Outcome != "" {
			words += ": " + string(c.Outcome)
		}
		changes = append(changes, words)
	}
	return report, changes
}

func TestTracker(t *testing.T) {
	var (
		owner    = st.Pod("ns/owner")
		good     = st.ConfigMap("ns/c", st.OwnedBy(owner))
		bad      = st.ConfigMap("ns/c", st.OwnedBy(st.Pod("ns/gone")))
		both     = st.ConfigMap("ns/c", st.OwnedBy(st.Pod("ns/gone"), owner))
		twice    = st.ConfigMap("ns/c", st.OwnedBy(st.Pod("ns/gone"), st.Pod("ns/gone")))
		replaced = st.ConfigMap("ns/c", st.Owned(st.To(st.Pod("ns/gone"), st.WithUID("earlier"))))
		another  = st.ConfigMap("ns/c", st.UID("another"), st.OwnedBy(owner))
		stuck    = st.ConfigMap("ns/s", st.TerminatingFor(2*time.Hour, "x/hold"))
		waiting  = st.ConfigMap("ns/s", st.TerminatingFor(59*time.Minute, "x/hold"))
		virtual  = st.Secret("ns/v", st.OwnedBy(st.Pod("ns/gone")))
		below    = st.ConfigMap("ns/c", st.OwnedBy(virtual))
	)
	noSecrets := st.Unlisted("secrets")
	for name, c := range map[string]struct {
		before, after *snapshot.Snapshot
		want          []string
		unverified    int
	}{
		"a bad reference appears":                 {st.New(st.Listing(good, owner)), st.New(st.Listing(bad, owner)), []string{"ADDED missing-owner c"}, 0},
		"nothing happens":                         {st.New(st.Listing(bad, owner)), st.New(st.Listing(bad, owner)), nil, 0},
		"the time passes":                         {st.New(st.Listing(stuck)), st.New(st.Listing(stuck)), nil, 0},
		"a deletion becomes stuck":                {st.New(st.Listing(waiting)), st.New(st.Listing(waiting)), []string{"ADDED stuck-finalizer s"}, 0},
		"the object is deleted":                   {st.New(st.Listing(bad, owner)), st.New(st.Listing(owner)), []string{"REMOVED missing-owner c: deleted"}, 0},
		"the object is replaced":                  {st.New(st.Listing(bad, owner)), st.New(st.Listing(another, owner)), []string{"REMOVED missing-owner c: deleted"}, 0},
		"the reference is repaired":               {st.New(st.Listing(bad, owner)), st.New(st.Listing(good, owner)), []string{"REMOVED missing-owner c: resolved"}, 0},
		"another reference makes it less severe":  {st.New(st.Listing(bad, owner)), st.New(st.Listing(both, owner)), []string{"CHANGED missing-owner c"}, 0},
		"an object gets the name of the owner":    {st.New(st.Listing(replaced)), st.New(st.Listing(replaced, st.Pod("ns/gone"))), []string{"ADDED replaced-owner c", "REMOVED missing-owner c: superseded"}, 0},
		"the owner cannot be read any more":       {st.New(st.Listing(bad)), st.New(st.Listing(bad), st.Unreadable("pods", snapshot.Unavailable)), []string{"ADDED unverified-owner c", "REMOVED missing-owner c: superseded"}, 0},
		"the object cannot be read any more":      {st.New(st.Listing(bad)), st.New(st.Unreadable("configmaps", snapshot.Unavailable)), nil, 1},
		"the API group cannot be discovered":      {st.New(st.Listing(bad)), st.New(st.Undiscovered("", snapshot.Unavailable), st.Unlisted("configmaps")), nil, 1},
		"nobody names an object that was read up": {st.New(st.Listing(below), noSecrets, st.Found(virtual)), st.New(noSecrets), []string{"REMOVED missing-owner v: unknown"}, 0},
		"one of two equal references is removed":  {st.New(st.Listing(twice)), st.New(st.Listing(bad)), []string{"REMOVED missing-owner c: resolved", "REMOVED duplicate-owner c: resolved"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var tracker audit.Tracker
			follow(t, &tracker, c.before, 0)
			report, got := follow(t, &tracker, c.after, 2*time.Minute)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if tracker.Unverified() != c.unverified {
				t.Errorf("%d findings are unverified, want %d", tracker.Unverified(), c.unverified)
			}
			for i := range report.Findings {
				since, ok := tracker.Since(&report.Findings[i])
				if added := len(got) > 0 && got[0][:5] == "ADDED"; ok && !since.Equal(st.Taken.Add(2*time.Minute)) || ok != added {
					t.Errorf("%s is there since %s", report.Findings[i].Rule, since)
				}
			}
		})
	}
}

func TestTrackerReportsTheFirstFindingsAsAdded(t *testing.T) {
	var tracker audit.Tracker
	report, got := follow(t, &tracker, st.New(st.Listing(child(gone))), 0)
	if diff := cmp.Diff([]string{"ADDED missing-owner " + child(gone).Name}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, ok := tracker.Since(&report.Findings[0]); ok {
		t.Error("it says since when a finding of the first scan is there")
	}
}

// A finding about an object that cannot be read for a while is neither removed nor added again.
func TestTrackerKeepsAFindingUntilItsObjectCanBeReadAgain(t *testing.T) {
	bad := st.ConfigMap("ns/c", st.OwnedBy(st.Pod("ns/gone")))
	for name, c := range map[string]struct {
		after *snapshot.Snapshot
		want  []string
	}{
		"it is still there":         {st.New(st.Listing(bad)), nil},
		"it was deleted meanwhile":  {st.New(), []string{"REMOVED missing-owner c: deleted"}},
		"it was repaired meanwhile": {st.New(st.Listing(st.ConfigMap("ns/c"))), []string{"REMOVED missing-owner c: resolved"}},
	} {
		t.Run(name, func(t *testing.T) {
			var tracker audit.Tracker
			follow(t, &tracker, st.New(st.Listing(bad)), 0)
			follow(t, &tracker, st.New(st.Unreadable("configmaps", snapshot.Unavailable)), time.Minute)
			_, got := follow(t, &tracker, c.after, 2*time.Minute)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if tracker.Unverified() != 0 {
				t.Error("the finding is still unverified")
			}
		})
	}
}
