package trust

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defect 3: an object of an aggregated API with the UID of another object was taken for that
// object. When collect deleted the one, the other counted as deleted; delete deleted the other
// one instead.
func TestObjectsWithOneUIDAreNotConfused(t *testing.T) {
	t.Parallel()
	// Objects are merged in the order of their kinds, so one kind sorts before Deployment and one
	// after it.
	aaa := aggregated("aggregated.example.com", "aaas", "Aaa")
	zzz := aggregated("aggregated.example.com", "zzzs", "Zzz")
	collect := []string{"collect", "--yes"}
	for name, c := range map[string]struct {
		of              *Type
		namespace, name string
		later           time.Duration // than the creation of the Deployment
		command         []string
	}{
		"collect, with another name":               {aaa, "shop", "x", 0, collect},
		"collect, in another namespace":            {aaa, "kube-system", "web", 0, collect},
		"collect, created at another time":         {aaa, "shop", "web", time.Minute, collect},
		"delete, with another name":                {zzz, "shop", "x", 0, []string{"delete", "zzz/x", "-n", "shop", "--client-side", "--yes"}},
		"delete, created at another time":          {zzz, "shop", "web", time.Minute, []string{"delete", "zzz/web", "-n", "shop", "--client-side", "--yes"}},
		"delete, with the cluster's own collector": {zzz, "shop", "x", 0, []string{"delete", "zzz/x", "-n", "shop", "--wait=false", "--yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			s.Serve(aaa, zzz)
			web := s.Add(Deployments.Object("shop", "web"))
			dependent := s.Add(ownedBy(Secrets.Object("shop", "dependent"), referenceTo(web)))
			claiming := ownedBy(c.of.Object(c.namespace, c.name), missingOwner(ConfigMaps))
			claiming.UID = web.UID
			claiming.CreationTimestamp = metav1.NewTime(web.CreationTimestamp.Add(c.later))
			s.Add(claiming)

			newUser(t, s).runs(c.command...)
			requireKept(t, s, web, dependent)
		})
	}
}
