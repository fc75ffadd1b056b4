package doctorview_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/doctorview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestWrite(t *testing.T) {
	for name, c := range map[string]struct {
		diagnosis *doctor.Diagnosis
		want      string
	}{
		"a fault": {
			&doctor.Diagnosis{
				Checks: []doctor.Check{
					{Title: "API discovery", Status: doctor.OK, Detail: reason.GroupsAvailable},
					{Title: "Controller manager leader", Status: doctor.Fail, Detail: reason.LeaseNotHeld},
					{Title: "Server version", Status: doctor.Unknown, Detail: reason.NotChecked("for\x1bbidden")},
				},
				State: doctor.NotWorking, Conclusion: reason.ManagerDown,
				Suggestions: []reason.Suggestion{{Sentence: "start it"}, {Sentence: "delete it", Command: []string{"kubectl", "delete", "apiservice", "a b"}}},
			},
			`CHECK                      STATUS   DETAIL
API discovery              ok       every API group answers
Controller manager leader  FAIL     no kube-controller-manager holds the lease
Server version             unknown  not checked: for\x1bbidden

No kube-controller-manager is running, so nothing collects garbage.
Fix: start it
Fix: delete it: kubectl delete apiservice 'a b'
`,
		},
		"nothing to see": {
			&doctor.Diagnosis{
				Checks:      []doctor.Check{{Title: "Long deletions", Status: doctor.Warn, Detail: reason.NoLongDeletion}},
				State:       doctor.Unverified,
				Conclusion:  reason.CollectorUnverified(false),
				Suggestions: []reason.Suggestion{{Sentence: "see it work"}},
			},
			`CHECK           STATUS  DETAIL
Long deletions  warn    no deletion is taking long

No problems found, but there was no garbage to collect, so this does not prove that the garbage collector works.
Next: see it work
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := doctorview.Write(&out, c.diagnosis, color.New(color.Never, false, true), wording.Command); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
