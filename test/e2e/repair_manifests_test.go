package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestRepairedManifestsSurviveTheCollector applies a manifest of a backup whose owner was recreated,
// as it is and repaired, while the real collector runs.
func TestRepairedManifestsSurviveTheCollector(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("restored")
	owner := s.create(secret(ns, "owner"))
	s.startRealCollector()
	manifest := fmt.Sprintf(`# from a backup
apiVersion: v1
kind: ConfigMap
metadata:
  name: part # the only one
  namespace: %[1]s
  ownerReferences:
  - apiVersion: v1
    kind: Secret
    name: owner
    uid: 0ddba11-0000-0000-0000-000000000000
    controller: true
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: %[1]s
  ownerReferences:
  - {apiVersion: v1, kind: Secret, name: owner, uid: %[2]s}
  - {apiVersion: v1, kind: Secret, name: gone, uid: gone}
`, ns, owner.GetUID())
	part, shared := configMap(ns, "part"), configMap(ns, "shared")

	s.kubectl("apply", "-f", s.writeFile("backup.yaml", manifest)).exits(t, 0)
	s.await("the collector to delete what the backup brought back", func(context.Context) (bool, error) { return s.gone(part), nil })

	r := s.kubectl("gc", "repair", "-f", s.writeFile("backup.yaml", manifest)).exits(t, 0).
		warns(t, "ConfigMap/part -n "+ns+": changed: Secret/owner exists, with another UID: the reference gets that UID",
			"ConfigMap/shared -n "+ns+": removed: Secret/gone does not exist", "2 references changed or removed, 0 bad ones left. Complete scan.")
	for _, comment := range []string{"# from a backup", "# the only one"} {
		if !strings.Contains(r.Stdout, comment) {
			t.Errorf("the comment %q is missing in\n%s", comment, r.Stdout)
		}
	}
	s.kubectl("apply", "-f", s.writeFile("repaired.yaml", r.Stdout)).exits(t, 0)
	s.awaitSentinel(ns)
	for o, want := range map[*object]int{&part: 1, &shared: 1} {
		if got := s.live(*o).GetOwnerReferences(); len(got) != want || got[0].UID != owner.GetUID() {
			t.Errorf("%s has the owners %v", o.GetName(), got)
		}
	}
}
