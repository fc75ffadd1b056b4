package restore

// What controllers make by themselves, as soon as what they make it for is there,
// is left to them: the names would be taken, or two would be there.

func leaveAccount(m manifest) string {
	if m.text("metadata", "name") != "default" {
		return ""
	}
	return "it comes with its namespace; what was added to it does not come back"
}

func leaveConfigMap(m manifest) string {
	if m.text("metadata", "name") != "kube-root-ca.crt" {
		return ""
	}
	return "it comes with its namespace"
}

func leaveSlice(m manifest) string {
	if m.label("endpointslice.kubernetes.io/managed-by") == "" {
		return ""
	}
	return "a controller makes it for its Service"
}

func leaveEndpoints(m manifest) string {
	if m.label("endpoints.kubernetes.io/managed-by") == "" && m.annotation("endpoints.kubernetes.io/last-change-trigger-time") == "" {
		return ""
	}
	return "a controller makes it for its Service"
}

func leaveLease(manifest) string { return "who held it makes it again" }

func leaveEvent(manifest) string { return "it tells of what is over" }

func leaveAPIService(m manifest) string {
	if m.label("kube-aggregator.kubernetes.io/automanaged") == "" {
		return ""
	}
	return "the server makes it for what it serves"
}
