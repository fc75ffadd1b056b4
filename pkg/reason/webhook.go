package reason

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What the API server refuses because of admission, and what it can no longer do without a Service.
var (
	// every admission webhook that has to answer a DELETE or an UPDATE has a backend, as far as could be read
	WebhooksAnswer = fixed("WebhooksAnswer", "none refuses deletions or updates because its Service is down")
	// the API server accepted dry runs of writes that admission webhooks and policies match, or that end deletions
	DryRunsAccepted = says("DryRunsAccepted", "writes", func(writes int) string {
		return "the API server accepted " + Count(writes, "dry run") + " of deletions and updates"
	})
)

// WebhookRefuses means that the API server refuses deletions or updates: an admission webhook fails closed, and its
// Service is missing or has no ready endpoint, or admission refused a dry run.
type WebhookRefuses struct {
	Configuration object.Identity `json:"configuration"`     // of the webhook, or the policy; the zero value if a dry run does not show it
	Binding       string          `json:"binding,omitempty"` // of the policy
	Service       string          `json:"service"`           // namespace/name; empty after a dry run
	State         BackendState    `json:"state"`
	Said          string          `json:"said,omitempty"`      // the API server's words about the dry run
	Decided       bool            `json:"decided,omitzero"`    // a webhook or policy answered the dry run, and may answer another user differently
	Operation     string          `json:"operation"`           // DELETE or UPDATE
	Finalizer     string          `json:"finalizer,omitempty"` // that the UPDATE removes
	First         object.Identity `json:"first,omitzero"`      // the zero value: whatever the webhook matches
	More          int             `json:"more,omitzero"`       // how many other objects
	Uncertain     bool            `json:"uncertain,omitzero"`  // labels or conditions decide that were not read
}

func (r WebhookRefuses) Message() string {
	who, verb, what, fault := r.Configuration.String(), "refuses", "deletion", "its Service "+r.Service+" does not exist"
	if r.Configuration.Name == "" {
		who = "the API server"
	}
	if r.Binding != "" {
		who += " (binding " + r.Binding + ")"
	}
	if r.Uncertain {
		verb = "may refuse"
	}
	if r.Operation == "UPDATE" {
		what = "update"
	}
	switch {
	case r.Said != "":
		fault = r.Said
	case r.State == BackendNoEndpoints:
		fault = "its Service " + r.Service + " has no ready endpoint"
	}
	switch {
	case r.First == object.Identity{}:
		what += "s"
	case r.Finalizer != "":
		what = fmt.Sprintf("the removal of %s from %s", r.Finalizer, r.First)
	default:
		what = fmt.Sprintf("the %s of %s", what, r.First)
	}
	if r.More > 0 {
		what += fmt.Sprintf(" and %d more", r.More)
	}
	if r.Decided {
		what += " (asked as you; it may allow controllers)"
	}
	return fmt.Sprintf("%s %s %s: %s", who, verb, what, fault)
}

// AddRefusal adds a refusal to others. If that of another object is equal, it counts the object.
func AddRefusal(all []WebhookRefuses, r WebhookRefuses) []WebhookRefuses {
	for i, known := range all {
		known.First, known.Finalizer, known.More = r.First, r.Finalizer, r.More
		if known == r {
			all[i].More++
			return all
		}
	}
	return append(all, r)
}

// JoinRefusals returns the refusals for lack of a backend, which are certain if dry runs show the same, and those of dry
// runs that other configurations cause.
func JoinRefusals(known, tried []WebhookRefuses) []WebhookRefuses {
	for i, k := range known {
		known[i].Uncertain = k.Uncertain && !slices.ContainsFunc(tried, func(r WebhookRefuses) bool {
			return r.Configuration == k.Configuration && r.Operation == k.Operation && r.First == k.First && r.More == k.More
		})
	}
	return append(known, slices.DeleteFunc(tried, func(r WebhookRefuses) bool {
		return slices.ContainsFunc(known, func(k WebhookRefuses) bool { return k.Configuration == r.Configuration })
	})...)
}

// Remedy returns what a person may do about it as a clause, and the command for the second part of
// that.
func (r WebhookRefuses) Remedy() (sentence string, command []string) {
	kind, name := strings.ToLower(r.Configuration.Kind), r.Configuration.Name
	switch {
	case name == "":
		return "see the admission webhooks and policies", []string{"kubectl", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies"}
	case r.Decided:
		return "see what " + r.Configuration.String() + " permits, and change the object or that", []string{"kubectl", "get", kind, name, "-o", "yaml"}
	case r.Binding != "":
		return "recreate the parameter or correct the policy, or delete its binding if nothing needs it", []string{"kubectl", "delete", kind + "binding", r.Binding}
	case r.Service == "":
		return fmt.Sprintf("repair what the message names, or delete the %s if nothing needs it", r.Configuration.Kind), []string{"kubectl", "delete", kind, name}
	}
	return fmt.Sprintf("restore Service %s, or delete the %s if nothing needs it", r.Service, r.Configuration.Kind), []string{"kubectl", "delete", kind, name}
}

// BackendLost means that a plan deletes a Service that the API server calls, and not the object that names it.
type BackendLost struct {
	Object  object.Identity `json:"object"`  // an APIService, a CustomResourceDefinition or a webhook configuration
	Service string          `json:"service"` // namespace/name
	// Refuses are the writes that webhooks of the configuration match and that fail closed: "CREATE and DELETE of
	// pods"; none of other objects.
	Refuses []string `json:"refuses,omitempty"`
}

func (r BackendLost) Message() string {
	what := "every deletion of a namespace hangs, as the API server cannot discover what this API serves"
	switch {
	case r.Object.IsCRD():
		what = r.Object.Name + " may no longer be read or deleted, as nothing converts them between versions"
	case len(r.Refuses) > 0:
		what = "the API server refuses every " + first(mostNamed, r.Refuses, ", ", "%d more", func(s string) string { return s })
	}
	return fmt.Sprintf("%s: %s calls Service %s", what, r.Object, r.Service)
}
