package trust

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Without this test, another test could pass only because the program rejects the server as
// a whole.
func TestScanOfHonestServerIsComplete(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Server){
		"protobuf":         func(*Server) {},
		"JSON":             func(s *Server) { s.JSON = true },
		"legacy discovery": func(s *Server) { s.Legacy = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			set(s)
			s.Add(Widgets.Definition())
			s.Serve(aggregated("metrics.example.com", "samples", "Sample"))
			u := newUser(t, s)

			audit := u.runs("audit", "--strict", "-o", "json").exits(0).read()
			if !audit.Complete || len(audit.Gaps) > 0 {
				t.Errorf("the scan is incomplete: %+v", audit.Gaps)
			}

			web := s.Add(orphaning(Deployments.Object("shop", "web")))
			waiting := Deployments.Object("shop", "waiting")
			waiting.Finalizers = []string{metav1.FinalizerDeleteDependents}
			terminating(waiting)
			waiting = s.Add(waiting)
			kept := s.Add(ownedBy(Secrets.Object("shop", "kept"), referenceTo(web)))
			garbage := []*Object{
				s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments))),
				s.Add(ownedBy(Widgets.Object("shop", "garbage"), missingOwner(ConfigMaps))),
				garbageNamespace(s, 40),
			}

			collected := u.runs("collect", "--yes", "--strict", "-o", "json").exits(0).read()
			requireGone(t, s, append(garbage, web, waiting)...)
			requireKept(t, s, kept)
			if owners := s.Now(kept).OwnerReferences; len(owners) > 0 {
				t.Errorf("an orphan has owners: %v", owners)
			}
			for _, name := range []string{`"garbage"`, `"doomed"`, `"content-039"`} {
				if !strings.Contains(u.backedUp(), name) {
					t.Errorf("the backup does not hold %s", name)
				}
			}
			u.runs("restore", collected.Backup, "--yes").exits(0)
			if n := s.count(Secrets, "doomed"); n != 40 {
				t.Errorf("%d Secrets of 40 were restored", n)
			}
		})
	}
}

func TestDeleteAndRepairWorkOnHonestServer(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	u := newUser(t, s)
	web := s.Add(Deployments.Object("shop", "web"))
	replicas := s.Add(ownedBy(ReplicaSets.Object("shop", "web-1"), referenceTo(web)))
	config := s.Add(ownedBy(ConfigMaps.Object("shop", "config"), referenceTo(web), missingOwner(Deployments)))

	u.runs("repair", "configmap/config", "-n", "shop", "--yes", "--strict").exits(0)
	if owners := s.Now(config).OwnerReferences; len(owners) != 1 {
		t.Errorf("repaired, it has the owners %v", owners)
	}
	r := u.runs("delete", "deployment/web", "-n", "shop", "--client-side", "--yes", "--strict", "-o", "json").exits(0)
	requireGone(t, s, web, replicas, config)
	if name := filepath.Base(r.read().Backup); !strings.Contains(fmt.Sprint(u.runs("restore").exits(0).stdout), name) {
		t.Errorf("restore does not list the backup %s", name)
	}
}
