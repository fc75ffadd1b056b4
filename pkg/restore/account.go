package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

const (
	tokenType    = "kubernetes.io/service-account-token"
	tokenAccount = "kubernetes.io/service-account.name"
	tokenUID     = "kubernetes.io/service-account.uid"
)

// cleanSecret has the token controller fill a token's Secret anew. One that names
// the UID of an account that is gone it would delete.
func cleanSecret(m manifest, _ *surroundings) []reason.Reason {
	if m.text("type") != tokenType {
		return nil
	}
	m.drop("metadata", "annotations", tokenUID)
	for _, key := range []string{"token", "ca.crt", "namespace"} {
		m.drop("data", key)
	}
	return []reason.Reason{reason.TokensReplaced{}}
}

// secretNeeds is the account of a token, without which the token controller
// deletes its Secret.
func secretNeeds(m manifest) []need {
	account := m.annotation(tokenAccount)
	if m.text("type") != tokenType || account == "" {
		return nil
	}
	return []need{{schema.GroupKind{Kind: "ServiceAccount"}, m.text("metadata", "namespace"), account}}
}
