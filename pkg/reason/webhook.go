package reason

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What the API server refuses because nothing answers for an admission webhook.
var (
	// every admission webhook that has to answer a DELETE or an UPDATE has a backend, as far as could be read
	WebhooksAnswer = fixed("WebhooksAnswer", "none refuses deletions or updates because its Service is down")
)

// WebhookRefuses means that the API server refuses deletions or updates, because an admission webhook
// fails closed, and its Service is missing or has no ready endpoint.
type WebhookRefuses struct {
	Configuration object.Identity `json:"configuration"`
	Service       string          `json:"service"` // namespace/name
	State         BackendState    `json:"state"`
	Operation     string          `json:"operation"`          // DELETE or UPDATE
	First         object.Identity `json:"first,omitzero"`     // the zero value: whatever the webhook matches
	More          int             `json:"more,omitzero"`      // how many other objects
	Uncertain     bool            `json:"uncertain,omitzero"` // labels or conditions decide that were not read
}

func (r WebhookRefuses) Message() string {
	verb, what, fault := "refuses", "deletion", "does not exist"
	if r.Uncertain {
		verb = "may refuse"
	}
	if r.Operation == "UPDATE" {
		what = "update"
	}
	if r.State == BackendNoEndpoints {
		fault = "has no ready endpoint"
	}
	switch {
	case r.First == object.Identity{}:
		what += "s"
	case r.More > 0:
		what = fmt.Sprintf("the %s of %s and %d more", what, r.First, r.More)
	default:
		what = fmt.Sprintf("the %s of %s", what, r.First)
	}
	return fmt.Sprintf("%s %s %s: its Service %s %s", r.Configuration, verb, what, r.Service, fault)
}

// Remedy returns what a person may do about it as a clause, and the command for the second part of
// that.
func (r WebhookRefuses) Remedy() (sentence string, command []string) {
	return fmt.Sprintf("restore Service %s, or delete the %s if nothing needs it", r.Service, r.Configuration.Kind),
		[]string{"kubectl", "delete", strings.ToLower(r.Configuration.Kind), r.Configuration.Name}
}
