package trust

import (
	"strings"
	"testing"
)

func TestMaxDeletesOfZeroRefusesEveryDeletion(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u := newUser(t, s)
	u.runs("collect", "--yes", "--max-deletes=0").exits(4).warns("more than --max-deletes allows (0)")
	u.runs("controller", "--yes", "--leader-elect=false", "--allow-running-collector", "--no-backup", "--max-deletes=0").exits(2).
		warns("error: --max-deletes must be at least 1")
	requireKept(t, s, garbage)
}

func TestDryRunSaysThatMaxDeletesWouldRefuseTheRun(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	addSecrets(s, "shop", 1)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u := newUser(t, s)
	const warning = "warning: with --yes or --confirm, a run would refuse this plan: it deletes 1 object, more than --max-deletes allows (0)"
	for _, dryRun := range []string{"--dry-run=client", "--dry-run=server"} {
		u.runs("collect", dryRun, "--max-deletes=0").exits(0).warns(warning)
		if r := u.runs("collect", dryRun).exits(0); strings.Contains(r.stderr, "warning") {
			t.Errorf("a run that is allowed warns: %s", short(r.stderr))
		}
	}
}
