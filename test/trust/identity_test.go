package trust

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defect 3: an object of an aggregated API that claims the UID of another object
// was taken for that object. When collect deleted the one, the other counted as
// gone; delete deleted the other instead.
func TestAnObjectIsNotTakenForAnotherThatClaimsItsUID(t *testing.T) {
	t.Parallel()
	// Objects are merged in the order of their kinds, so that one kind comes before
	// Deployment, and one after it.
	aaa := Type{Group: "aggregated.example.com", Version: "v1", Resource: "aaas", Kind: "Aaa", Namespaced: true}
	zzz := Type{Group: "aggregated.example.com", Version: "v1", Resource: "zzzs", Kind: "Zzz", Namespaced: true}
	collect := []string{"collect", "--yes"}
	for name, c := range map[string]struct {
		of              Type
		namespace, name string
		later           time.Duration // than the Deployment was made
		command         []string
	}{
		"collect, of another name":          {aaa, "shop", "x", 0, collect},
		"collect, in another namespace":     {aaa, "kube-system", "web", 0, collect},
		"collect, made at another time":     {aaa, "shop", "web", time.Minute, collect},
		"delete, of another name":           {zzz, "shop", "x", 0, []string{"delete", "zzz/x", "-n", "shop", "--client-side", "--yes"}},
		"delete, made at another time":      {zzz, "shop", "web", time.Minute, []string{"delete", "zzz/web", "-n", "shop", "--client-side", "--yes"}},
		"delete, left to another collector": {zzz, "shop", "x", 0, []string{"delete", "zzz/x", "-n", "shop", "--wait=false", "--yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			s.Aggregate(aaa, zzz)
			web := s.Add(Deployments.object("shop", "web"))
			dependent := s.Add(owned(Secrets.object("shop", "dependent"), of(web)))
			claiming := owned(c.of.object(c.namespace, c.name), absent(ConfigMaps))
			claiming.SetUID(web.GetUID())
			claiming.SetCreationTimestamp(metav1.NewTime(web.GetCreationTimestamp().Add(c.later)))
			s.Add(claiming)

			newUser(t, s).runs(c.command...)
			stays(t, s, web, dependent)
		})
	}
}
