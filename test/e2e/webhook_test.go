package e2e

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusing returns a configuration of a webhook that fails closed, and whose Service does not exist, for operations on
// ConfigMaps in a namespace.
func refusing(name, namespace string, operations ...any) object {
	return newObject("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", name, withField("webhooks", []any{map[string]any{
		"name": "validate.example.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "failurePolicy": "Fail",
		"clientConfig":      map[string]any{"service": map[string]any{"namespace": "kyverno", "name": "kyverno-svc"}},
		"rules":             []any{map[string]any{"operations": operations, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}}},
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}},
	}}))
}

// TestKyverno2750DeletionsAreRefusedForLackOfABackend is about an uninstalled policy engine whose webhook configuration
// is left: the API server refuses deletions, so a namespace hangs.
func TestKyverno2750DeletionsAreRefusedForLackOfABackend(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns, other := s.namespace("policed"), s.namespace("free")
	data := s.create(configMap(ns, "data"))
	s.create(configMap(other, "data"))
	owner := s.create(secret(ns, "owner"))
	s.create(configMap(ns, "owned", ownedBy(referenceTo(owner))))
	webhook := s.create(refusing("kyverno-resource", ns, "DELETE"))
	s.await("the webhook", func(ctx context.Context) (bool, error) {
		err := s.client(data).Delete(ctx, "data", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInternalError(err), nil
	})
	const fault, remedy = "its Service kyverno/kyverno-svc does not exist", "kubectl delete validatingwebhookconfiguration kyverno-resource"

	s.gc("doctor", "--settle=0s").exits(t, 1).shows(t, "Admission webhooks", "ValidatingWebhookConfiguration/kyverno-resource refuses deletions: "+fault, remedy)
	s.gc("delete", "configmap/data", "-n", ns, "--dry-run").exits(t, 0).
		warns(t, "warning: ValidatingWebhookConfiguration/kyverno-resource refuses the deletion of ConfigMap/data: "+fault, remedy)
	s.gc("delete", "secret/owner", "-n", ns, "--dry-run").exits(t, 0).warns(t, "refuses the deletion of ConfigMap/owned: "+fault)
	result{Stdout: s.gc("delete", "configmap/data", "-n", other, "--dry-run").Stderr}.lacks(t, "kyverno-resource")
	s.gc("why", "configmap/data", "-n", ns).exits(t, 0).shows(t, "ValidatingWebhookConfiguration/kyverno-resource refuses the deletion of ConfigMap/data: "+fault, remedy)
	s.gc("why", "configmap/data", "-n", other).exits(t, 0).lacks(t, "kyverno-resource")
	// It is so: this run fails.
	s.gc("delete", "configmap/data", "-n", ns, "--yes", "--no-backup").exits(t, 1)

	s.startRealCollector()
	stuck := s.deleteStuck(ns, "NamespaceDeletionContentFailure")
	why := s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "refuses the deletion of ConfigMap/data and ", fault, remedy)
	why.lacks(t, "see who refuses")
	s.gc("stuck").exits(t, 0).warns(t, "refuses the deletion of ConfigMap/data and ", fault, remedy)

	s.remove(webhook, metav1.DeletePropagationBackground)
	s.await("the end of the namespace", func(ctx context.Context) (bool, error) {
		_, err := s.client(stuck.space).Get(ctx, ns, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// TestNetbird46UpdatesAreRefusedForLackOfABackend is about a finalizer that its controller cannot remove.
func TestNetbird46UpdatesAreRefusedForLackOfABackend(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("held")
	held := s.create(configMap(ns, "held", heldBy(hold)))
	s.remove(held, metav1.DeletePropagationBackground)
	webhook := s.create(refusing("netbird-operator", ns, "CREATE", "UPDATE"))
	s.await("the webhook", func(ctx context.Context) (bool, error) {
		_, err := s.client(held).Create(ctx, configMap(ns, "another").Unstructured, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInternalError(err), nil
	})
	const refusal = "ValidatingWebhookConfiguration/netbird-operator refuses the update of ConfigMap/held: its Service kyverno/kyverno-svc does not exist"
	s.gc("doctor", "--settle=0s").exits(t, 1).shows(t, "netbird-operator refuses updates: ")
	s.gc("why", "configmap/held", "-n", ns).exits(t, 0).shows(t, refusal, "kubectl delete validatingwebhookconfiguration netbird-operator")
	s.gc("stuck").exits(t, 0).warns(t, refusal)
	s.gc("finalizer", "remove", "configmap/held", hold, "-n", ns, "--dry-run").exits(t, 0).warns(t, refusal)
	s.gc("finalizer", "remove", "configmap/held", hold, "-n", ns, "--yes", "--no-backup").exits(t, 1)
	s.remove(webhook, metav1.DeletePropagationBackground)
	s.await("the removal of the finalizer", func(context.Context) (bool, error) {
		return s.gc("finalizer", "remove", "configmap/held", hold, "-n", ns, "--yes", "--no-backup").Code == 0, nil
	})
}
