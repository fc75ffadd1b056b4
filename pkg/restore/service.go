package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// None is the clusterIP of a Service that is to have none.
const headless = "None"

// addressed says whether a Service asks for an address or a port of its own.
func addressed(m manifest) bool {
	ip := m.text("spec", "clusterIP")
	if ip != "" && ip != headless || m.has("spec", "healthCheckNodePort") {
		return true
	}
	for _, p := range m.list("spec", "ports") {
		if f, _ := p.(map[string]any); manifest(f).has("nodePort") {
			return true
		}
	}
	return false
}

// plainer leaves it to the server which address and ports a Service gets. It
// answers whether that makes a difference.
func plainer(m manifest) bool {
	if !addressed(m) {
		return false
	}
	if m.text("spec", "clusterIP") != headless {
		m.drop("spec", "clusterIP")
		m.drop("spec", "clusterIPs")
	}
	m.drop("spec", "healthCheckNodePort")
	for _, p := range m.list("spec", "ports") {
		if f, _ := p.(map[string]any); f != nil {
			manifest(f).drop("nodePort")
		}
	}
	return true
}

// cleanService keeps its addresses: see plainer for when they are taken.
func cleanService(m manifest, _ *surroundings) []reason.Reason {
	if !addressed(m) {
		return nil
	}
	return []reason.Reason{reason.ServiceAddressesMayChange{}}
}
