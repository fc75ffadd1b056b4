package reason

import (
	"fmt"
	"strings"
)

// ControllerTraces is what a scan shows of the controllers of a DNS domain, such as the one in the
// name of a finalizer. It is evidence, and no proof: a controller may run without any of these, and
// these may outlive their controller.
type ControllerTraces struct {
	Domain string `json:"domain"`
	Own    string `json:"own,omitempty"` // the API group of the object itself, which is no trace; empty if it is of another domain
	// Groups are the served API groups of the domain, APIServices those that are registered for
	// other groups of it, and Webhooks the webhook configurations that its name is a part of.
	// Each list has a few of them at most, and More counts the others of all three.
	Groups      []string `json:"groups,omitempty"`
	APIServices []string `json:"apiServices,omitempty"`
	Webhooks    []string `json:"webhooks,omitempty"`
	More        int      `json:"more,omitempty"`
	Definitions int      `json:"definitions,omitempty"` // CustomResourceDefinitions in groups of the domain
	Unread      []Gap    `json:"unread,omitempty"`      // if there are no traces: what may hide some
}

// Any reports whether there are any traces.
func (t ControllerTraces) Any() bool {
	return len(t.Groups)+len(t.APIServices)+len(t.Webhooks)+t.Definitions > 0
}

// Sentence returns the traces as whole sentences, without the last full stop.
func (t ControllerTraces) Sentence() string {
	if !t.Any() {
		no, found := "No", "Found no"
		if t.Own != "" {
			besides := "Besides the object's own API group " + t.Own + ", "
			no, found = besides+"no", besides+"found no"
		}
		if len(t.Unread) > 0 {
			return fmt.Sprintf("%s API group or webhook configuration of %s, but could not read everything: %s", found, t.Domain, listGaps(t.Unread))
		}
		return fmt.Sprintf("%s API group, CustomResourceDefinition, APIService or webhook configuration of %s exists in this cluster. The controller may have been uninstalled", no, t.Domain)
	}
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 1 {
			what += "s"
		}
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	add("API group", t.Groups)
	if t.Definitions > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", Count(t.Definitions, "CustomResourceDefinition"), t.Domain))
	}
	add("APIService", t.APIServices)
	add("webhook configuration", t.Webhooks)
	text, exist := strings.Join(parts[:len(parts)-1], ", "), "exist"
	if text != "" {
		text += " and "
	}
	text += parts[len(parts)-1]
	if t.More > 0 {
		text += fmt.Sprintf(" (and %d more)", t.More)
	} else if len(t.Groups)+len(t.APIServices)+len(t.Webhooks)+t.Definitions == 1 {
		exist = "exists"
	}
	return fmt.Sprintf("%s still %s in the cluster, so the controller may still be installed. This tool cannot see whether it runs", text, exist)
}
