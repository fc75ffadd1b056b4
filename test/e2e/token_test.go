package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestKubernetes24928TokenSecretsGoWithTheirServiceAccount compares the preview of the deletion of a ServiceAccount with
// what the token controller makes of it, and restores a token that works.
func TestKubernetes24928TokenSecretsGoWithTheirServiceAccount(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.startRealCollector()
	ns := s.namespace("token")
	owner := s.create(configMap(ns, "operator"))
	s.create(newObject("v1", "ServiceAccount", ns, "ci", ownedBy(referenceTo(owner))))
	token := newObject("v1", "Secret", ns, "ci-token", withField("type", "kubernetes.io/service-account-token"))
	token.SetAnnotations(map[string]string{"kubernetes.io/service-account.name": "ci"})
	s.create(token)
	issued := func() string {
		var data string
		s.await("a token", func(ctx context.Context) (bool, error) {
			now, err := s.client(token).Get(ctx, "ci-token", metav1.GetOptions{})
			if err != nil {
				return false, nil
			}
			values, _ := now.Object["data"].(map[string]any)
			data, _ = values["token"].(string)
			return data != "", nil
		})
		return data
	}
	before := issued()

	for _, target := range []string{"serviceaccount/ci", "configmap/operator"} { // the latter takes the account along
		s.gc("delete", target, "-n", ns, "--dry-run").exits(t, 0).shows(t, "Secret/ci-token", "the token controller deletes it", "Secret 1, ServiceAccount 1")
	}
	backups := t.TempDir()
	s.gc("delete", "serviceaccount/ci", "-n", ns, "--yes", "--max-deletes", "1", "--backup-dir", backups).exits(t, 4)
	s.gc("delete", "serviceaccount/ci", "-n", ns, "--yes", "--backup-dir", backups).exits(t, 0).shows(t, "deleted 2 in ", "a scan afterwards found nothing left to do")
	s.gc("restore", onlyFolder(t, backups), "--yes").exits(t, 0).shows(t, "created 2 in ", "whoever uses an old one needs the new one")
	if issued() == before {
		t.Error("the restored Secret has the old token, which no longer works")
	}
}

// TestKubernetes111556WhyNamesTheControllerThatDeletesWithoutAReference asks about objects that other controllers than the
// garbage collector delete.
func TestKubernetes111556WhyNamesTheControllerThatDeletesWithoutAReference(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.startRealCollector()
	ns := s.namespace("lifecycle")
	containers := []any{map[string]any{"name": "c", "image": "x"}}
	template := map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": containers}}
	s.create(newObject("batch/v1", "Job", ns, "import", withField("spec", map[string]any{"ttlSecondsAfterFinished": int64(60), "template": template})))
	s.create(newObject("v1", "Pod", ns, "lost", withField("spec", map[string]any{"nodeName": "gone-" + ns, "containers": containers})))
	s.create(newObject("v1", "Secret", ns, "plain"))
	why := s.gc("why", "job/import", "pod/lost", "secret/plain", "serviceaccount/default", "-n", ns).exits(t, 0)
	why.shows(t, "Job/import stays for now: the TTL controller deletes it 60s after it finishes.",
		"Pod/lost will be deleted: Pod garbage collection deletes it, since Node/gone-"+ns+" does not exist.",
		"Secret/plain stays: it has no owner")
}
