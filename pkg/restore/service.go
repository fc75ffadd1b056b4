package restore

import (
	"encoding/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// headless is the clusterIP of a Service without an address.
const headless = "None"

// cleanService keeps the addresses. If they are taken by now, WithoutAllocatedFields
// removes them.
func cleanService(m manifest, _ *volumeContext) []reason.Reason {
	if !hasAllocatedFields(m) {
		return nil
	}
	return []reason.Reason{reason.ServiceAddressesMayChange}
}

// hasAllocatedFields reports whether a Service asks for a particular address or port.
func hasAllocatedFields(m manifest) bool {
	ip := m.text("spec", "clusterIP")
	if ip != "" && ip != headless || m.has("spec", "healthCheckNodePort") {
		return true
	}
	for _, p := range m.list("spec", "ports") {
		if port, _ := p.(map[string]any); manifest(port).has("nodePort") {
			return true
		}
	}
	return false
}

// WithoutAllocatedFields returns the body of a Service without the addresses and
// node ports that the API server allocates, and reports whether that differs from
// the given body. It is for a server that refuses the body because they are taken.
func WithoutAllocatedFields(o object.Identity, body json.RawMessage) (json.RawMessage, bool) {
	if k := o.GroupVersionKind().GroupKind(); k.Group != "" || k.Kind != "Service" {
		return nil, false
	}
	m, err := parse(body)
	if err != nil || !hasAllocatedFields(m) {
		return nil, false
	}
	if m.text("spec", "clusterIP") != headless {
		m.drop("spec", "clusterIP")
		m.drop("spec", "clusterIPs")
	}
	m.drop("spec", "healthCheckNodePort")
	for _, p := range m.list("spec", "ports") {
		if port, _ := p.(map[string]any); port != nil {
			manifest(port).drop("nodePort")
		}
	}
	out, err := json.Marshal(m)
	return out, err == nil
}
