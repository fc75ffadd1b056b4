package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// findingsOf returns the findings of a report, as they are written.
func findingsOf(t *testing.T, r result) string {
	t.Helper()
	var report struct {
		Findings json.RawMessage `json:"findings"`
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	return string(report.Findings)
}

// TestAuditWithoutPredictsTheRemovalOfAVersion removes a version from a CRD after the audit that
// predicts the findings.
func TestAuditWithoutPredictsTheRemovalOfAVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ removed, group string }{
		"of a version that is not preferred": {"v1beta1", "old.removal.example.com"},
		"of the preferred version":           {"v1", "new.removal.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("removal")
			crd := definition(c.group, "Engine", "Namespaced", version("v1", true), version("v1beta1", true))
			s.define(crd)
			engine := s.create(newObject(c.group+"/v1", "Engine", ns, "engine", ownedBy(missingOwner())))
			for _, v := range []string{"v1", "v1beta1"} {
				s.create(configMap(ns, "owned-"+v, ownedBy(reference(c.group+"/"+v, "Engine", "engine", engine.GetUID()))))
				s.create(configMap(ns, "lost-"+v, ownedBy(reference(c.group+"/"+v, "Engine", "gone", "gone"), referenceTo(engine))))
				s.create(secret(ns, "mismatched-"+v, ownedBy(reference(c.group+"/"+v, "Engine", "another", engine.GetUID()))))
			}
			s.create(newObject(c.group+"/v1", "Engine", ns, "part", ownedBy(reference(c.group+"/v1beta1", "Engine", "engine", engine.GetUID()))))
			removed := c.group + "/" + c.removed

			predicted := s.gc("audit", "-n", ns, "--without", removed, "-o", "json").exits(t, 1)
			if diff := cmp.Diff(findingsOf(t, s.gc("audit", "-n", ns, "-o", "json").exits(t, 1)), findingsOf(t, predicted)); diff == "" {
				t.Error("the removal changes nothing")
			}
			s.gc("audit", "-n", ns, "--without", removed).exits(t, 1).shows(t, "unserved-owner-version", "Judged as if "+removed+" were not served.")

			s.stopServing(crd, c.removed)
			if diff := cmp.Diff(findingsOf(t, predicted), findingsOf(t, s.gc("audit", "-n", ns, "-o", "json").exits(t, 1))); diff != "" {
				t.Errorf("the audit after the removal (-predicted +got)\n%s", diff)
			}
			s.gc("audit", "-n", ns, "--without", removed).exits(t, 2).warns(t, "--without \""+removed+"\": the API server does not serve this version")
		})
	}
}

func TestRepairUpdatesVersionsBeforeTheyAreRemoved(t *testing.T) {
	const group = "moved.removal.example.com"
	s := newScene(t)
	ns := s.namespace("moved")
	crd := definition(group, "Engine", "Namespaced", version("v1", true), version("v1beta1", true))
	s.define(crd)
	engine := s.create(newObject(group+"/v1", "Engine", ns, "engine"))
	s.create(configMap(ns, "owned", ownedBy(reference(group+"/v1beta1", "Engine", "engine", engine.GetUID(), controlling))))

	s.gc("audit", "-n", ns, "--rule", "outdated-owner-version").exits(t, 0).shows(t, "ConfigMap/owned", "1 info in 2 objects")
	s.gc("repair", "-n", ns, "--yes").exits(t, 0)
	s.gc("audit", "-n", ns, "--without", group+"/v1beta1").exits(t, 1)
	s.gc("repair", "-n", ns, "--fix", "update-version", "--yes").exits(t, 0).
		shows(t, "Engine/engine is referenced in "+group+"/v1beta1, which is not the preferred version: the reference gets "+group+"/v1")
	want := []metav1.OwnerReference{referenceTo(engine, controlling)}
	if diff := cmp.Diff(want, s.live(configMap(ns, "owned")).GetOwnerReferences()); diff != "" {
		t.Errorf("the reference (-want +got)\n%s", diff)
	}
	s.gc("audit", "-n", ns, "--without", group+"/v1beta1").exits(t, 0)
}

// stopServing removes a version of a CRD from those that the API server serves.
func (s *scene) stopServing(crd object, version string) {
	s.Helper()
	live := s.live(crd)
	for _, v := range live.Object["spec"].(map[string]any)["versions"].([]any) {
		if v := v.(map[string]any); v["name"] == version {
			v["served"] = false
		}
	}
	spec, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": live.Object["spec"].(map[string]any)["versions"]}})
	s.must(err)
	s.patch(crd, string(spec))
	served := live.Object["spec"].(map[string]any)["group"].(string) + "/" + version
	s.await("the API server to stop serving "+served, func(context.Context) (bool, error) { return !s.discovered(served, "engines"), nil })
}
