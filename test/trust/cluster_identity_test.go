package trust

import (
	"net/http"
	"path/filepath"
	"testing"
)

// The scan of the whole cluster has listed the Namespace that identifies it.
func TestBackupKnowsItsClusterAlthoughKubeSystemCannotBeRead(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	s.Lie(func(r *http.Request) bool { return r.URL.Path == "/api/v1/namespaces/kube-system" }, Forbid(Namespaces))
	u := newUser(t, s)
	u.runs("collect", "--yes", "--backup-dir", "backups").exits(0)
	s.StopLying()
	found, err := filepath.Glob(filepath.Join(u.home, "backups", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("backups: %v %v", found, err)
	}
	u.runs("restore", found[0], "--dry-run").exits(0)
}
