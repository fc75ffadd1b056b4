package trust

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// unreadableOwner adds a Secret that the API server cannot read from etcd, and ConfigMaps that it owns: a, which
// has a dependent, and shared, which has another owner, too.
func unreadableOwner(s *Server, restarted bool) (owner, a, shared *Object) {
	owner = s.Add(Secrets.Object("shop", "web"))
	other := s.Add(ConfigMaps.Object("shop", "other"))
	a = s.Add(ownedBy(ConfigMaps.Object("shop", "a"), referenceTo(owner)))
	s.Add(ownedBy(ConfigMaps.Object("shop", "a-child"), referenceTo(a)))
	shared = s.Add(ownedBy(ConfigMaps.Object("shop", "shared"), referenceTo(owner), referenceTo(other)))
	s.Corrupt(restarted, owner)
	return owner, a, shared
}

func (r *result) says(texts ...string) *result {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(r.stdout, text) {
			r.Errorf("kubectl gc %s does not say %q:\n%s\nstderr: %s", strings.Join(r.args, " "), text, short(r.stdout), short(r.stderr))
		}
	}
	return r
}

// KEP-3926: since Kubernetes 1.37 the error of a list names what the API server cannot read, unless its cache has not
// been filled since it was started: then only a list with a limit does.
func TestUnreadableObjectsAreNamedAndNeverAbsent(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"the cache was filled": false, "the API server was restarted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			_, a, shared := unreadableOwner(s, restarted)
			u, named := newUser(t, s), "secrets (1 object in etcd cannot be read: shop/web)"

			begun := time.Now()
			found := u.runs("audit", "-o", "json").exits(0).read()
			if took := time.Since(begun); took > 25*time.Second {
				t.Errorf("a scan takes %s", took)
			}
			want := gap{Resource: "secrets", Reason: "store-read-error", Objects: []string{"shop/web"}}
			if len(found.Gaps) != 1 || fmt.Sprint(found.Gaps[0]) != fmt.Sprint(want) {
				t.Errorf("gaps %+v, want %+v", found.Gaps, want)
			}
			lists := slices.DeleteFunc(s.Requests(), func(r apiserver.Request) bool { return !strings.HasSuffix(r.Path, "/secrets") })
			if most := 2; len(lists) > most {
				t.Errorf("%d lists of Secrets, want at most %d: %+v", len(lists), most, lists)
			}
			u.runs("audit").warns(named)
			u.runs().says(named)
			u.runs("doctor", "--settle", "0s").exits(1).says("could not list "+named, "kubectl gc why secrets/web -n shop")
			u.runs("why", "namespace/shop").exits(0).says("1 object in etcd cannot be read: shop/web", "kubectl gc why secrets/web -n shop")
			u.runs("why", "configmap/a", "-n", "shop").exits(0).says("It is unknown what happens to ConfigMap/a", "shop/web")
			u.runs("why", "secret/web", "-n", "shop").exits(0).says("Secret/web cannot be read", "2 objects name it as their owner",
				"kubectl delete --raw '/api/v1/namespaces/shop/secrets/web?ignoreStoreReadErrorWithClusterBreakingPotential=true&dryRun=All'", "unsafe-delete-ignore-read-errors")

			// Nobody knows whether an owner exists that cannot be read.
			u.runs("collect", "--yes")
			u.runs("delete", "configmap/other", "-n", "shop", "--yes", "--client-side")
			requireKept(t, s, a, shared)
		})
	}
}

func TestDeleteLeavesAloneWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	_, a, shared := unreadableOwner(s, true)
	u := newUser(t, s)
	for _, flags := range [][]string{{"--dry-run"}, {"--yes"}, {"-o", "json"}, {"--ignore-not-found", "--yes"}} {
		r := u.runs(append([]string{"delete", "secret/web", "-n", "shop"}, flags...)...).exits(2)
		if !strings.Contains(r.stderr, "cannot be read from etcd: ") || !strings.Contains(r.stderr, "kubectl gc why secrets/web -n shop") {
			t.Errorf("%q: %s", flags, r.stderr)
		}
	}
	u.runs("delete", "secret/web", "secret/x", "-n", "shop", "--yes").exits(2)
	requireKept(t, s, a, shared)
	if writes := s.Writes(); len(writes) > 0 {
		t.Errorf("writes: %+v", writes)
	}
}

func TestOnlyWhatIsInANamespaceKeepsIt(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	unreadableOwner(s, false)
	s.Add(Namespaces.Object("", "dev"))
	s.Corrupt(false, s.Add(Secrets.Object("dev", "db")), s.Add(Secrets.Object("shop", "zz")))
	u := newUser(t, s)
	u.runs("why", "namespace/dev").exits(0).says("stays while the API server cannot list secrets in it: 1 object in etcd cannot be read: dev/db.")
	u.runs("why", "namespace/kube-system").exits(0)
}

// A list names at most 100 objects, and says if there are more.
func TestUnreadableObjectsAreBounded(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for i := range 120 {
		s.Corrupt(false, s.Add(ConfigMaps.Object("shop", fmt.Sprintf("broken-%03d", i))))
	}
	u := newUser(t, s)
	found := u.runs("audit", "-o", "json").read()
	if len(found.Gaps) != 1 || len(found.Gaps[0].Objects) != 100 || !found.Gaps[0].MoreObjects {
		t.Errorf("gaps %+v", found.Gaps)
	}
	u.runs("audit").warns("at least 100 objects in etcd cannot be read: shop/broken-000, shop/broken-001, shop/broken-002, shop/broken-003, and 96 more")
	// the names survive a file
	file := u.home + "/scan.json.gz"
	u.runs("snapshot", "-o", file)
	if saved := u.runs("audit", "--from", file, "-o", "json").read(); len(saved.Gaps) != 1 || !slices.Equal(saved.Gaps[0].Objects, found.Gaps[0].Objects) || !saved.Gaps[0].MoreObjects {
		t.Errorf("gaps of the file %+v", saved.Gaps)
	}
}
