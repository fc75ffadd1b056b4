package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

	s.gc("doctor", "--settle=0s").exits(t, 1).shows(t, "Admission", "ValidatingWebhookConfiguration/kyverno-resource refuses deletions: "+fault, remedy)
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

// TestAWebhookThatAnswersWronglyIsNamed is about an uninstalled policy engine, or one whose certificate has changed: the
// Service of the webhook is there and answers, but the API server does not trust its certificate.
func TestAWebhookThatAnswersWronglyIsNamed(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns, hooks := s.namespace("guarded"), s.namespace("hooks")
	server, other := httptest.NewTLSServer(http.NotFoundHandler()), otherAuthority(t)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	s.must(err)
	port, err := strconv.ParseInt(address.Port(), 10, 64)
	s.must(err)
	s.create(newObject("v1", "Service", hooks, "guard", withField("spec", map[string]any{"type": "ExternalName", "externalName": "localhost", "ports": []any{map[string]any{"port": port}}})))
	data := s.create(configMap(ns, "data"))
	webhook := refusing("guard", ns, "DELETE")
	s.must(unstructured.SetNestedMap(webhook.Object["webhooks"].([]any)[0].(map[string]any), map[string]any{
		"caBundle": other, "service": map[string]any{"namespace": hooks, "name": "guard", "port": port},
	}, "clientConfig"))
	webhook = s.create(webhook)
	s.await("the webhook", func(ctx context.Context) (bool, error) {
		err := s.client(data).Delete(ctx, "data", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInternalError(err), nil
	})
	const fault, remedy = "tls: failed to verify certificate", "kubectl delete validatingwebhookconfiguration guard"
	doctor := s.gc("doctor", "--settle=0s").exits(t, 1).shows(t, "ValidatingWebhookConfiguration/guard refuses the deletion of ConfigMap/", fault, remedy)
	doctor.lacks(t, "No problems found", "restore Service")

	s.startRealCollector()
	s.gc("delete", "namespace/"+ns, "--yes", "--timeout=3s", "--no-backup").exits(t, 1).
		warns(t, "ValidatingWebhookConfiguration/guard refuses the deletion of ConfigMap/", fault, remedy)
	s.deleteStuck(ns, "NamespaceDeletionContentFailure")
	s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "ValidatingWebhookConfiguration/guard refuses the deletion of ConfigMap/", fault, remedy).
		lacks(t, "restore the Service")
	s.gc("stuck").exits(t, 0).warns(t, "ValidatingWebhookConfiguration/guard refuses the deletion of ConfigMap/", fault, remedy)
	s.remove(webhook, metav1.DeletePropagationBackground)
	s.await("the end of the namespace", func(ctx context.Context) (bool, error) {
		return s.gone(data), nil
	})
}

// otherAuthority returns a certificate in PEM that signs nothing.
func otherAuthority(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestKubernetes129883APolicyWithoutItsParameterIsNamed is about a ValidatingAdmissionPolicy whose parameter was deleted
// before what it checks: it refuses the removal of a finalizer. https://github.com/kubernetes/kubernetes/issues/129883
func TestKubernetes129883APolicyWithoutItsParameterIsNamed(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("vap")
	held := s.create(secret(ns, "held", heldBy(hold)))
	const group = "admissionregistration.k8s.io/v1"
	policy := s.create(newObject(group, "ValidatingAdmissionPolicy", "", "secret-limit", withField("spec", map[string]any{
		"paramKind":        map[string]any{"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{"operations": []any{"CREATE", "UPDATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"secrets"}}}},
		"validations":      []any{map[string]any{"expression": "params.data.max != ''"}},
	})))
	binding := s.create(newObject(group, "ValidatingAdmissionPolicyBinding", "", "secret-limit-bind", withField("spec", map[string]any{
		"policyName": "secret-limit", "validationActions": []any{"Deny"}, "paramRef": map[string]any{"name": "limit", "parameterNotFoundAction": "Deny"},
		"matchResources": map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": ns}}},
	})))
	s.await("the policy", func(ctx context.Context) (bool, error) {
		_, err := s.client(held).Create(ctx, secret(ns, "another").Unstructured, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err), nil
	})
	s.remove(held, metav1.DeletePropagationBackground)
	const refusal = "ValidatingAdmissionPolicy/secret-limit (binding secret-limit-bind) refuses the removal of " + hold + " from Secret/held: failed to configure binding: no params found"
	const remedy = "kubectl delete validatingadmissionpolicybinding secret-limit-bind"
	s.gc("doctor", "--settle=0s").exits(t, 1).shows(t, refusal, remedy).lacks(t, "No problems found")
	s.gc("why", "secret/held", "-n", ns).exits(t, 0).shows(t, refusal, remedy).lacks(t, "preview removing")
	s.gc("stuck", "-n", ns).exits(t, 0).warns(t, refusal, remedy)
	s.gc("finalizer", "remove", "secret/held", hold, "-n", ns, "--dry-run").exits(t, 0).warns(t, refusal, remedy)
	if now := s.live(held); len(now.GetFinalizers()) != 1 {
		t.Errorf("asking has changed %v", now)
	}

	// What only warns does not refuse, and what one user may not do proves nothing.
	patch := func(o object, field, value string) { s.patch(o, `{"spec":{"`+field+`":`+value+`}}`) }
	patch(binding, "validationActions", `["Warn"]`)
	patch(binding, "paramRef", `{"name":"limit","parameterNotFoundAction":"Allow"}`)
	s.await("the warning", func(ctx context.Context) (bool, error) {
		_, err := s.client(held).Create(ctx, secret(ns, "another").Unstructured, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, nil
	})
	s.gc("why", "secret/held", "-n", ns).exits(t, 0).lacks(t, "secret-limit")

	// A policy that answers may answer a controller differently.
	s.patch(policy, `{"spec":{"paramKind":null,"validations":[{"expression":"request.userInfo.username == 'system:nobody'","message":"finalizers stay"}]}}`)
	patch(binding, "validationActions", `["Deny"]`)
	s.await("the denial", func(ctx context.Context) (bool, error) {
		_, err := s.client(held).Create(ctx, secret(ns, "another").Unstructured, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err), nil
	})
	const decided = "refuses the removal of " + hold + " from Secret/held (asked as you; it may allow controllers): finalizers stay"
	s.gc("why", "secret/held", "-n", ns).exits(t, 0).shows(t, decided, "kubectl get validatingadmissionpolicy secret-limit -o yaml")
	s.gc("doctor", "--settle=0s").shows(t, "warn", decided).lacks(t, "No problems found")
	s.remove(binding, metav1.DeletePropagationBackground)
	s.await("the end of the policy", func(ctx context.Context) (bool, error) {
		_, err := s.client(held).Create(ctx, secret(ns, "another").Unstructured, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, nil
	})
}
