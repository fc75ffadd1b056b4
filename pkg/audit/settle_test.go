package audit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSettle(t *testing.T) {
	absent := st.To(st.Pod("ns/absent"))
	doomed := child(gone, absent, st.To(pod))
	twice := child(gone, gone, st.To(pod))
	terminating := child(gone, absent, st.To(pod))
	terminating.Deleted = &time.Time{}
	for name, c := range map[string]struct {
		scanned object.Object
		again   audit.Reread
		want    []string
		counts  audit.Settlement
	}{
		"reports nothing about an object that is gone": {
			twice, audit.Reread{}, nil, audit.Settlement{InProgress: 1},
		},
		"reports nothing about an object that is being deleted now": {
			doomed, audit.Reread{Object: &terminating}, nil, audit.Settlement{InProgress: 1},
		},
		"reports only the references that the object still has": {
			doomed,
			audit.Reread{Object: new(child(absent, st.To(pod)))},
			[]string{"Pod/absent: NotProcessed"},
			audit.Settlement{InProgress: 1},
		},
		"reports what is unchanged, with evidence": {
			doomed,
			audit.Reread{Object: &doomed},
			[]string{"Pod/gone: NotProcessed", "Pod/absent: NotProcessed"},
			audit.Settlement{Remaining: 1, First: doomed.Identity},
		},
		"takes a flag that is written out as false for one that is unset": {
			doomed,
			audit.Reread{Object: new(child(gone, writtenOut(absent), st.To(pod)))},
			[]string{"Pod/gone: NotProcessed", "Pod/absent: NotProcessed"},
			audit.Settlement{Remaining: 1, First: doomed.Identity},
		},
		"reports what could not be read again": {
			doomed,
			audit.Reread{Failed: errors.New("forbidden")},
			[]string{"Pod/gone: NotReadAgain", "Pod/absent: NotReadAgain"},
			audit.Settlement{Unread: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := run(t, st.New(st.Listing(c.scanned, pod)), audit.Filter{Rules: audit.Dangling})
			if diff := cmp.Diff([]object.Identity{c.scanned.Identity}, report.Pending()); diff != "" {
				t.Fatal(diff)
			}
			report.Settle(map[object.Identity]audit.Reread{c.scanned.Identity: c.again}, time.Minute)
			var got []string
			for _, f := range report.Findings {
				got = append(got, f.Reference.Kind+"/"+f.Reference.Name+": "+string(f.Evidence.Code))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			c.counts.After.Duration = time.Minute
			if diff := cmp.Diff(&c.counts, report.Settled); diff != "" {
				t.Error(diff)
			}
			if n := report.Summary.Errors + report.Summary.Warnings + report.Summary.Infos; n != len(report.Findings) {
				t.Errorf("the summary counts %d findings, but there are %d", n, len(report.Findings))
			}
		})
	}
}

// writtenOut returns a reference with its unset flags set to false, which means the same.
func writtenOut(r object.Reference) object.Reference {
	r.Controller, r.BlockOwnerDeletion = object.Flag(r.Controls()), object.Flag(r.Blocks())
	return r
}

func TestSettleKeepsFindingsThatAreNotPending(t *testing.T) {
	report := run(t, st.New(st.Listing(child(foo))), audit.Filter{})
	before := lines(report)
	if report.Pending() != nil || len(before) == 0 {
		t.Fatalf("the findings are %v, want some, none of them pending", before)
	}
	report.Settle(nil, time.Minute)
	if diff := cmp.Diff(before, lines(report)); diff != "" {
		t.Error(diff)
	}
}
