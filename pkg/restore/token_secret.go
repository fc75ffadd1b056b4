package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var serviceAccount = schema.GroupKind{Kind: "ServiceAccount"}

func isTokenSecret(m manifest) bool { return m.text("type") == "kubernetes.io/service-account-token" }

// cleanSecret makes the token controller issue a new token. It would delete a Secret
// with the UID of a service account that does not exist.
func cleanSecret(m manifest, _ *volumeContext) []reason.Reason {
	if !isTokenSecret(m) {
		return nil
	}
	m.drop("metadata", "annotations", "kubernetes.io/service-account.uid")
	for _, key := range []string{"token", "ca.crt", "namespace"} {
		m.drop("data", key)
	}
	return []reason.Reason{reason.TokensReplaced}
}

// secretPrerequisites returns the service account of a token, without which the
// token controller deletes the Secret.
func secretPrerequisites(m manifest) []prerequisite {
	account := m.annotation("kubernetes.io/service-account.name")
	if !isTokenSecret(m) || account == "" {
		return nil
	}
	return []prerequisite{{serviceAccount, m.text("metadata", "namespace"), account}}
}
