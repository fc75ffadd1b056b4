package audit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// What depends on the order of events may also depend on that of the objects, in which the simulation takes them: also whether it
// sees that the order matters.
func TestReportIsIndependentOfInputOrder(t *testing.T) {
	reference := func(f audit.Finding) string { return fmt.Sprint(f.Object, f.Reference) }
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		shuffled := *s
		shuffled.Objects = rapid.Permutation(s.Objects).Draw(t, "objects")
		shuffled.Types = rapid.Permutation(s.Types).Draw(t, "types")
		shuffled.Listed = rapid.Permutation(s.Listed).Draw(t, "listed")
		reports, uncertain := []*audit.Report{run(t, s, audit.Filter{}), run(t, &shuffled, audit.Filter{})}, map[string]bool{}
		for _, report := range reports {
			for _, f := range report.Findings {
				uncertain[reference(f)] = uncertain[reference(f)] || f.Nondeterministic != nil
			}
		}
		for _, report := range reports {
			report.Findings = slices.DeleteFunc(report.Findings, func(f audit.Finding) bool { return uncertain[reference(f)] })
			report.Summary = audit.Totals{Objects: report.Summary.Objects, References: report.Summary.References}
		}
		if diff := cmp.Diff(reports[0], reports[1], cmpopts.IgnoreFields(audit.Finding{}, "Edge")); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestGapsNeverAddDeletions(t *testing.T) {
	deleted := func(t *rapid.T, s *snapshot.Snapshot) []types.UID {
		var out []types.UID
		for _, f := range run(t, s, audit.Filter{}).Findings {
			if f.Consequence == collector.ConsequenceDelete {
				out = append(out, f.Object.UID)
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		gapped := *s
		listing := rapid.SampledFrom(append(slices.Clone(s.Listed), snapshot.Listing{Group: "*", Resource: "*"})).Draw(t, "gap")
		gapped.Gaps = append(slices.Clone(s.Gaps), snapshot.Gap{Group: listing.Group, Resource: listing.Resource, Reason: snapshot.Forbidden})
		if rapid.Bool().Draw(t, "never seen") {
			gapped = without(gapped, listing)
		}
		before := deleted(t, s)
		for _, uid := range deleted(t, &gapped) {
			if !slices.Contains(before, uid) {
				t.Fatalf("%s is to be deleted since %+v has a gap", uid, listing)
			}
		}
	})
}

// without returns the snapshot as if the type had not been listed.
func without(s snapshot.Snapshot, l snapshot.Listing) snapshot.Snapshot {
	view := snapshot.NewView(&s)
	of := func(apiVersion, kind string) bool {
		m, ok := view.Map(apiVersion, kind)
		return ok && m.Type.Group == l.Group && m.Type.Resource == l.Resource
	}
	s.Listed = slices.DeleteFunc(slices.Clone(s.Listed), func(other snapshot.Listing) bool {
		return other.Group == l.Group && other.Resource == l.Resource
	})
	s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), func(o *object.Object) bool { return of(o.APIVersion, o.Kind) })
	s.Lookups = slices.DeleteFunc(slices.Clone(s.Lookups), func(l snapshot.Lookup) bool { return of(l.APIVersion, l.Kind) })
	return s
}

// Nothing restricts the text of a reference in a cluster or file.
func TestArbitraryReferenceTextDoesNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		text := rapid.String()
		for i := range s.Objects {
			for k := range s.Objects[i].Owners {
				r := &s.Objects[i].Owners[k]
				for _, field := range []*string{&r.APIVersion, &r.Kind, &r.Name, (*string)(&r.UID)} {
					if rapid.Bool().Draw(t, "replace") {
						*field = text.Draw(t, "text")
					}
				}
			}
			s.Objects[i].Finalizers = append(s.Objects[i].Finalizers, text.Draw(t, "finalizer"))
		}
		if _, err := json.Marshal(run(t, s, audit.Filter{})); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReportIsSorted(t *testing.T) {
	position := map[string]int{}
	for i, id := range audit.IDs() {
		position[id] = i
	}
	rapid.Check(t, func(t *rapid.T) {
		report := run(t, st.Draw(t), audit.Filter{})
		for i := range len(report.Findings) - 1 {
			a, b := report.Findings[i], report.Findings[i+1]
			order := a.Object.Compare(b.Object)
			if order > 0 || order == 0 && position[a.Rule] > position[b.Rule] {
				t.Fatalf("%s of %s comes before %s of %s", a.Rule, a.Object, b.Rule, b.Object)
			}
		}
	})
}

func TestSummaryCountsFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		report := run(t, s, audit.Filter{})
		want := audit.Totals{Objects: len(s.Objects)}
		for _, o := range s.Objects {
			want.References += len(o.Owners)
		}
		for _, f := range report.Findings {
			switch f.Severity {
			case audit.Error:
				want.Errors++
			case audit.Warning:
				want.Warnings++
			case audit.Info:
				want.Infos++
			}
		}
		if diff := cmp.Diff(want, report.Summary); diff != "" {
			t.Fatal(diff)
		}
		if report.Complete != (len(s.Gaps) == 0) {
			t.Fatalf("complete %v with %d gaps", report.Complete, len(s.Gaps))
		}
	})
}
