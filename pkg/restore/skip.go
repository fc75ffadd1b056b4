package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// These functions skip objects that controllers create by themselves: if they were
// recreated, their names would be taken, or there would be two of them.

func skipServiceAccount(m manifest) reason.Reason {
	if m.text("metadata", "name") != "default" {
		return nil
	}
	return reason.ComesWithNamespace{ContentsLost: true}
}

func skipConfigMap(m manifest) reason.Reason {
	if m.text("metadata", "name") != "kube-root-ca.crt" {
		return nil
	}
	return reason.ComesWithNamespace{}
}

func skipEndpointSlice(m manifest) reason.Reason {
	if m.label("endpointslice.kubernetes.io/managed-by") == "" {
		return nil
	}
	return reason.CreatedForService
}

func skipEndpoints(m manifest) reason.Reason {
	if m.label("endpoints.kubernetes.io/managed-by") == "" && m.annotation("endpoints.kubernetes.io/last-change-trigger-time") == "" {
		return nil
	}
	return reason.CreatedForService
}

func skipLease(manifest) reason.Reason { return reason.LeaseRenewed }

func skipEvent(manifest) reason.Reason { return reason.EventPast }

func skipAPIService(m manifest) reason.Reason {
	if m.label("kube-aggregator.kubernetes.io/automanaged") == "" {
		return nil
	}
	return reason.CreatedByServer
}
