package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// AdmissionAnswer is what admission answers to a write of an object, as far as a dry run shows it. The zero value accepts
// the write.
type AdmissionAnswer struct {
	Refused bool // it refuses the write, at least for who asked
	Because RefusedByAdmission
}

// Certain reports whether the write itself gets the same answer, whoever sends it.
func (a AdmissionAnswer) Certain() bool { return a.Because.Doubt == "" }

// AdmissionDoubt is why the write itself may get another answer than its dry run.
type AdmissionDoubt string

// The doubts.
const (
	RefusedForYou  AdmissionDoubt = "refused-for-you"  // the answer may be another one for the garbage collector
	AcceptedForYou AdmissionDoubt = "accepted-for-you" // likewise: the policy looks at the user
	CannotBeAsked  AdmissionDoubt = "cannot-be-asked"  // the webhook declares side effects, so it gets no dry runs
	NotAnswered    AdmissionDoubt = "not-answered"     // you may not send the write, or the API server did not answer
)

// RefusedByAdmission means that an admission webhook or policy refuses a write that the plan foresees, or may.
type RefusedByAdmission struct {
	By      object.Identity `json:"by,omitzero"` // the policy, or the configuration of the webhook; the zero value if it is not known
	Webhook string          `json:"webhook,omitempty"`
	Update  bool            `json:"update,omitzero"` // the removal of references and finalizers, and not the deletion
	Doubt   AdmissionDoubt  `json:"doubt,omitempty"` // why it may not be so; empty if it is certain
	Said    string          `json:"-"`               // the words of the webhook, the policy or the API server
}

// Message is what follows the name of the object.
func (r RefusedByAdmission) Message() string {
	what := "its deletion"
	if r.Update {
		what = "the removal of its references and finalizers"
	}
	by := r.By.String()
	switch {
	case r.By.Name == "" && r.Webhook != "":
		by = "webhook " + r.Webhook
	case r.By.Name == "":
		by = "the API server"
	case r.Webhook != "":
		by += " (webhook " + r.Webhook + ")"
	}
	said := ""
	if r.Said != "" {
		said = ": " + r.Said
	}
	switch r.Doubt {
	case RefusedForYou:
		return fmt.Sprintf("may stay as it is: %s refuses %s for you, so perhaps for the garbage collector%s", by, what, said)
	case AcceptedForYou:
		return fmt.Sprintf("may stay as it is: %s looks at the user, and allows %s only for you for sure", by, what)
	case CannotBeAsked:
		return fmt.Sprintf("may stay as it is: %s may refuse %s, and cannot be asked", by, what)
	case NotAnswered:
		return fmt.Sprintf("may stay as it is: it is unknown whether admission allows %s%s", what, said)
	}
	return fmt.Sprintf("stays as long as %s refuses %s%s", by, what, said)
}

// Brief leaves out what the webhook or policy said.
func (r RefusedByAdmission) Brief() string {
	r.Said = ""
	return r.Message()
}
