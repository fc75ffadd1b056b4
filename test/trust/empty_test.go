package trust

import "testing"

// A shell variable that is not set must not widen what a command works on.
func TestEmptyShellVariableSelectsNothing(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u := newUser(t, s)
	before := len(s.Requests())
	for _, args := range [][]string{
		{"collect", "--yes", "-n", ""},
		{"collect", "--yes", "--namespace= "},
		{"collect", "--yes", "--rule", ""},
		{"collect", "--yes", "--rule", "missing-owner,"},
		{"collect", "--confirm", ""},
		{"repair", "--yes", "-l", ""},
		{"repair", "--yes", "--rule", ""},
		{"repair", "--yes", "secret/garbage", "-n", "shop", "--fix", "unlink", "--reference", ""},
		{"repair", "--yes", "secret", "", "-n", "shop"},
		{"delete", "secret/garbage", "-n", "", "--yes"},
		{"delete", "secrets", "-l", "", "--all", "-n", "shop", "--yes"},
		{"restore", "backup", "-n", "", "--yes"},
		{"restore", "", "--yes"},
		{"doctor", "--canary", ""},
		{"audit", "--as", ""},
		{"audit", "--context", ""},
		{"audit", "--baseline", ""},
		{"controller", "--yes", "--leader-elect=false", "--allow-running-collector", "-n", ""},
	} {
		u.runs(args...).exits(2)
	}
	if got := len(s.Requests()); got > before {
		t.Errorf("%d requests were sent", got-before)
	}
	requireKept(t, s, garbage)
	if w := s.Writes(); len(w) > 0 {
		t.Errorf("there were writes: %v", w)
	}
}
