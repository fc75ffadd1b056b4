package trust

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The overview is for anybody who may list: it scans once, asks once for the lease of
// kube-controller-manager, and does without it.
func TestOverviewOnlyReads(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	lease := Path("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager")
	u := newUser(t, s)
	title := "test (" + s.URL + ", "
	leaseOf := func(holder string) http.HandlerFunc {
		return Text(http.StatusOK, "application/json", fmt.Sprintf(`{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": {"namespace": "kube-system", "name": "kube-controller-manager", "uid": "u-lease", "resourceVersion": "1"},
			"spec": {"holderIdentity": %q, "leaseDurationSeconds": 15, "renewTime": %q}}`, holder, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")))
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"renewed":  {leaseOf("master-0"), "The controller manager renewed its lease "},
		"released": {leaseOf(""), "The controller manager released its lease "},
		"forbidden": {
			Refuse(apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "kube-controller-manager", nil)),
			"Whether the controller manager is running is unknown: its lease could not be read.",
		},
	} {
		s.StopLying()
		s.Lie(lease, c.answer)
		s.ForgetRequests()
		r := u.runs().exits(0)
		for _, want := range []string{title, "\nWILL BE DELETED by the garbage collector", "Secret/garbage in shop: Deployment/", "kubectl gc why secret/garbage -n shop\n", c.want} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("%s: no %q in\n%s", name, want, r.stdout)
			}
		}
		if r.stderr != "" {
			t.Errorf("%s: standard error is %q", name, r.stderr)
		}
		asked := 0
		for _, request := range s.Requests() {
			if request.Method != http.MethodGet {
				t.Errorf("%s: it sends %s %s", name, request.Method, request.Path)
			}
			if strings.HasSuffix(request.Path, "/leases/kube-controller-manager") {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%s: it asks %d times for the lease", name, asked)
		}
	}
}
