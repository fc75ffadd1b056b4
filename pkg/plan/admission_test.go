package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// What admission refuses of a cascade stays, and its owner waits for it in the foreground or leaves it behind. It is backed up,
// as the answer may change.
func TestAPlanStopsWhereAdmissionRefuses(t *testing.T) {
	owner := ConfigMap("a/owner")
	kept, leaf, free := Secret("a/kept", Owned(To(owner, Blocking))), Pod("a/leaf", OwnedBy(Secret("a/kept"))), Secret("a/free", Owned(To(owner, Blocking)))
	refusal := func(update bool, doubt reason.AdmissionDoubt) reason.AdmissionAnswer {
		of := object.Identity{Kind: "ValidatingAdmissionPolicy", Name: "guard"}
		return reason.AdmissionAnswer{
			Refused: doubt == "" || doubt == reason.RefusedForYou, Because: reason.RefusedByAdmission{By: of, Update: update, Doubt: doubt, Said: "no"},
		}
	}
	const stays = "stays as long as ValidatingAdmissionPolicy/guard refuses its deletion: no"
	for name, c := range map[string]struct {
		policy    metav1.DeletionPropagation
		of        object.Object
		operation string
		doubt     reason.AdmissionDoubt
		want      []string
		blocked   []string
		backedUp  bool
	}{
		"its owner leaves it behind": {
			inBackground, kept, "DELETE", "", []string{"owner deleted", "free deleted"}, []string{"kept " + stays}, true,
		},
		"its owner waits for it": {
			inForeground, kept, "DELETE", "",
			[]string{"owner terminating foregroundDeletion", "free deleted"},
			[]string{"owner is blocked by Secret/kept, which " + stays, "kept " + stays},
			true,
		},
		"its deletion was requested": {inBackground, owner, "DELETE", "", []string{}, []string{"owner " + stays}, true},
		"its reference stays, and so does its owner": {
			orphaning, kept, "UPDATE", "",
			[]string{"owner terminating orphan", "free changed"},
			[]string{"owner is blocked by Secret/kept, which stays as long as ValidatingAdmissionPolicy/guard refuses the removal of its references and finalizers: no"},
			false,
		},
		"only who asks is refused for certain": {
			inBackground, kept, "DELETE", reason.RefusedForYou, []string{
				"owner deleted", "leaf unchanged; unsure: it depends on what happens to Secret/kept", "free deleted",
				"kept unchanged; unsure: may stay as it is: ValidatingAdmissionPolicy/guard refuses its deletion for you, so perhaps for the garbage collector: no",
			}, nil, true,
		},
		"nobody can ask": {
			inBackground, kept, "DELETE", reason.CannotBeAsked, []string{
				"owner deleted", "leaf deleted; unsure: it depends on what happens to Secret/kept", "free deleted",
				"kept deleted; unsure: may stay as it is: ValidatingAdmissionPolicy/guard may refuse its deletion, and cannot be asked",
			}, nil, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Listing(owner, kept, leaf, free))
			s.Answers = snapshot.Answers{{UID: c.of.UID, Operation: c.operation}: refusal(c.operation == "UPDATE", c.doubt)}
			p := deleting(s, c.policy, owner)
			var blocked []string
			outcomes := predicted(p)
			for _, b := range p.Blocked {
				blocked = append(blocked, b.Object.Name+" "+b.Reason.Message())
			}
			if diff := cmp.Diff(c.want, outcomes[:min(len(c.want), len(outcomes))]); diff != "" {
				t.Errorf("outcomes (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.blocked, blocked); diff != "" {
				t.Errorf("blocked (-want +got)\n%s", diff)
			}
			backedUp := false
			for _, o := range p.ObjectsToBackUp() {
				backedUp = backedUp || o.UID == c.of.UID
			}
			if backedUp != c.backedUp {
				t.Errorf("%s is backed up: %v", c.of.Name, backedUp)
			}
		})
	}
}
