package trust

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

func TestManagerOfNamedObjectIsReadAndNothingDependsOnIt(t *testing.T) {
	t.Parallel()
	const managed = "Argo CD's Application web contains it: its next sync recreates it, unless its source no longer has it"
	s := NewServer(t)
	web := Deployments.Object("shop", "web")
	web.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "web:apps/Deployment:shop/web"}
	s.Add(web)
	s.Add(Deployments.Object("shop", "plain"))
	u := newUser(t, s)
	says := func(want bool, command string, args ...string) {
		t.Helper()
		out := u.runs(append([]string{command, "deployment/web", "deployment/plain", "-n", "shop"}, args...)...).exits(0).stdout
		if got := strings.Count(out, managed); got > 1 || got == 1 != want {
			t.Errorf("%s says %d times who may recreate the object:\n%s", command, got, out)
		}
	}
	digest := func() string {
		return u.runs("delete", "deployment/web", "-n", "shop", "--dry-run", "-o", "json").exits(0).read().Digest
	}
	says(true, "why")
	says(true, "delete", "--dry-run")
	before := digest()

	s.Lie(Path("/apis/apps/v1/namespaces/shop/deployments/web"), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
	})
	says(false, "why")
	says(false, "delete", "--dry-run")
	if after := digest(); after != before {
		t.Errorf("the digest is %s where the manager cannot be read, and %s otherwise", after, before)
	}
}

func TestManagersOfManyNamedObjectsAreBounded(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for i := range 60 {
		o := ConfigMaps.Object("shop", fmt.Sprintf("settings-%02d", i))
		o.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		s.Add(o)
	}
	var asked atomic.Int32
	s.Lie(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps/") }, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		s.Honest(w, r)
	})
	out := newUser(t, s).runs("delete", "configmaps", "--all", "-n", "shop", "--dry-run").exits(0).stdout
	if got := strings.Count(out, "Flux's Kustomization apps"); got != 50 || asked.Load() != 50 {
		t.Errorf("%d of 60 have a manager, after %d requests", got, asked.Load())
	}
	if want := "This tool looked up what may recreate the first 50 of the 60 requested objects only.\n"; !strings.Contains(out, want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
}
