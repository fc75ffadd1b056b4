package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// What controllers make by themselves, as soon as what they make it for is there,
// is left to them: the names would be taken, or two would be there.

func leaveAccount(m manifest) reason.Reason {
	if m.text("metadata", "name") != "default" {
		return nil
	}
	return reason.ComesWithNamespace{ContentsLost: true}
}

func leaveConfigMap(m manifest) reason.Reason {
	if m.text("metadata", "name") != "kube-root-ca.crt" {
		return nil
	}
	return reason.ComesWithNamespace{}
}

func leaveSlice(m manifest) reason.Reason {
	if m.label("endpointslice.kubernetes.io/managed-by") == "" {
		return nil
	}
	return reason.CreatedForService{}
}

func leaveEndpoints(m manifest) reason.Reason {
	if m.label("endpoints.kubernetes.io/managed-by") == "" && m.annotation("endpoints.kubernetes.io/last-change-trigger-time") == "" {
		return nil
	}
	return reason.CreatedForService{}
}

func leaveLease(manifest) reason.Reason { return reason.LeaseRenewed{} }

func leaveEvent(manifest) reason.Reason { return reason.EventPast{} }

func leaveAPIService(m manifest) reason.Reason {
	if m.label("kube-aggregator.kubernetes.io/automanaged") == "" {
		return nil
	}
	return reason.CreatedByServer{}
}
