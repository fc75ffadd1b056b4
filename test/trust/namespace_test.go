package trust

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// namespaceScene returns a server with garbage in namespace shop, and a user who has a snapshot of
// it and a backup with something of namespace shop.
func namespaceScene(t *testing.T) (*Server, *user, *Object) {
	t.Helper()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "first"), missingOwner(Deployments)))
	u := newUser(t, s)
	u.runs("collect", "--yes", "--backup-dir", "backups").exits(0)
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u.runs("snapshot", "-o", "all.json").exits(0)
	return s, u, garbage
}

func (r *result) warns(texts ...string) *result {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(r.stderr, text) {
			r.Errorf("kubectl gc %s does not say %q: %s", strings.Join(r.args, " "), text, short(r.stderr))
		}
	}
	return r
}

// namespaceCommands returns a command line of every command that takes -n.
func namespaceCommands(t *testing.T, u *user) map[string][]string {
	t.Helper()
	backups, err := filepath.Glob(filepath.Join(u.home, "backups", "*"))
	if err != nil || len(backups) == 0 {
		t.Fatalf("no backup: %v %v", backups, err)
	}
	return map[string][]string{
		"audit":           {"audit", "--strict"},
		"audit contexts":  {"audit", "--contexts", "test"},
		"terminating":     {"stuck"},
		"audit watch":     {"audit", "--watch"},
		"collect":         {"collect", "--yes"},
		"collect dry run": {"collect", "--dry-run"},
		"controller":      {"controller", "--yes", "--leader-elect=false", "--allow-running-collector"},
		"repair":          {"repair", "--yes"},
		"repair one":      {"repair", "secret/garbage", "--yes"},
		"tree":            {"tree"},
		"tree types":      {"tree", "secrets"},
		"why":             {"why", "secret/garbage"},
		"why UID":         {"why", "--uid", "5"},
		"delete":          {"delete", "secret/garbage", "--yes"},
		"delete all":      {"delete", "secrets", "--all", "--yes"},
		"doctor":          {"doctor", "--settle", "0s"},
		"snapshot":        {"snapshot", "-o", "part.json"},
		"restore":         {"restore", backups[0], "--yes"},
	}
}

func TestNamespaceThatDoesNotExistIsAnErrorOfEveryCommand(t *testing.T) {
	t.Parallel()
	s, u, garbage := namespaceScene(t)
	before := len(s.Writes())
	for name, args := range namespaceCommands(t, u) {
		t.Run(name, func(t *testing.T) {
			u := *u
			u.T = t
			r := u.runs(append(args, "-n", "shpo")...).exits(2).warns(`namespace "shpo"`, `Did you mean shop?`)
			if r.stdout != "" {
				t.Errorf("it answers: %s", short(r.stdout))
			}
		})
	}
	u.runs("doctor", "--settle", "0s", "--canary", "shpo").exits(2).warns(`namespace "shpo" does not exist`)
	for _, args := range [][]string{
		{"audit", "--strict"}, {"collect", "--dry-run"}, {"repair", "--dry-run"}, {"tree"}, {"why", "secret/garbage"}, {"delete", "secret/garbage", "--dry-run"},
	} {
		u.runs(append(args, "-n", "shpo", "--from", "all.json")...).exits(2).warns(`the file has no object in namespace "shpo". Did you mean shop?`)
	}
	requireKept(t, s, garbage)
	if w := s.Writes()[before:]; len(w) > 0 {
		t.Errorf("there were writes: %v", w)
	}
}

func TestNameThatNoNamespaceCanHaveIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	s, u, _ := namespaceScene(t)
	before := len(s.Requests())
	for name, args := range namespaceCommands(t, u) {
		t.Run(name, func(t *testing.T) {
			u := *u
			u.T = t
			u.runs(append(args, "-n", "shop,other")...).exits(2).warns(`--namespace "shop,other": it takes one namespace`)
			u.runs(append(args, "-n", "../shop")...).exits(2).warns(`--namespace "../shop" is not a valid name of a namespace`)
		})
	}
	u.runs("doctor", "--canary", "a,b").exits(2).warns(`--canary "a,b": it takes one namespace`)
	if got := len(s.Requests()); got > before {
		t.Errorf("%d requests were sent", got-before)
	}
}

func TestNamespaceThatMayNotBeReadIsScanned(t *testing.T) {
	t.Parallel()
	s, u, _ := namespaceScene(t)
	s.Add(Namespaces.Object("", "empty"))
	u.runs("audit", "--strict", "-n", "empty").exits(0)
	u.runs("snapshot", "-n", "empty", "-o", "empty.json").exits(0)
	u.runs("audit", "--from", "empty.json", "-n", "empty").exits(0)
	s.Lie(func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/unknown") && strings.Count(r.URL.Path, "/") == 4
	}, Forbid(Namespaces))
	u.runs("audit", "--strict", "-n", "unknown").exits(0)
}

func TestFileOfOneNamespaceIsNoScanOfTheCluster(t *testing.T) {
	t.Parallel()
	s, u, _ := namespaceScene(t)
	s.Add(Namespaces.Object("", "empty"))
	u.runs("snapshot", "-n", "empty", "-o", "empty.json").exits(0)
	u.runs("audit", "--from", "empty.json", "-A").exits(2).warns(`the file is a scan of namespace "empty" only`)
	u.runs("collect", "--from", "empty.json", "--dry-run").exits(0).warns(`the file is a scan of namespace "empty" only`)
}

func TestNamespaceOfTheContextThatDoesNotExistIsAnError(t *testing.T) {
	t.Parallel()
	_, u, _ := namespaceScene(t) // the server has no namespace default
	u.runs("tree").exits(2).warns(`namespace "default" does not exist`, "hint: the namespace is that of the context: choose another with -n")
	u.runs("audit", "--fail-on", "never").exits(0) // of the whole cluster
}

func TestCommandsThatDoWithoutTheNamespace(t *testing.T) {
	t.Parallel()
	s, u, _ := namespaceScene(t)
	u.runs("delete", "secret/garbage", "-n", "gone", "--ignore-not-found", "--yes").exits(0)
	s.Add(ownedBy(Secrets.Object("gone", "dependent"), missingOwner(Deployments)))
	u.runs("why", "deployment/absent", "-n", "gone").exits(0)
}
