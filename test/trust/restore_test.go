package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defect 9: a backup of one cluster was restored into another one at the same address.
func TestBackupIsRestoredOnlyIntoItsOwnCluster(t *testing.T) {
	t.Parallel()
	// collected returns a user who has a backup of the server, and the backup's name.
	collected := func(t *testing.T, s *Server, more ...string) (*user, string) {
		s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
		u := newUser(t, s)
		backup := u.runs(append([]string{"collect", "--yes", "-o", "json"}, more...)...).exits(0).read().Backup
		return u, filepath.Base(backup)
	}
	restores := func(t *testing.T, u *user, s *Server, args ...string) {
		before := len(s.Writes())
		u.runs(append([]string{"restore", "--yes"}, args...)...).exits(1, 2)
		if now := s.Writes()[before:]; len(now) > 0 {
			t.Errorf("there were writes: %v", now)
		}
		u.runs(append([]string{"restore", "--yes", "--to-another-cluster"}, args...)...).exits(0)
		if n := s.count(Secrets, "shop"); n != 1 {
			t.Errorf("with the flag, it restored %d Secrets of 1", n)
		}
	}
	t.Run("a cluster that was rebuilt at the same address", func(t *testing.T) {
		t.Parallel()
		s := NewServer(t)
		u, backup := collected(t, s)
		s.rebuild()
		restores(t, u, s, backup)
	})
	t.Run("two addresses without a scheme", func(t *testing.T) {
		t.Parallel()
		one, other := NewServer(t), NewServer(t)
		u, backup := collected(t, one, "--server", one.URL[len("http://"):])
		restores(t, u, other, backup, "--server", other.URL[len("http://"):])
	})
	t.Run("the same cluster at another address", func(t *testing.T) {
		t.Parallel()
		s := NewServer(t)
		u, backup := collected(t, s)
		u.runs("restore", "--yes", backup, "--server", s.Listen(t)).exits(0)
		if n := s.count(Secrets, "shop"); n != 1 {
			t.Errorf("%d Secrets of 1 were restored", n)
		}
	})
}

// A restoration that could not write to its journal warned, but exited with 0. The next
// restoration would not have known which objects it had created.
func TestRestoreWithoutJournalFails(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u := newUser(t, s)
	backup := u.runs("collect", "--yes", "-o", "json").exits(0).read().Backup

	full := filepath.Join(u.home, "full")
	u.must(os.WriteFile(full, []byte("#!/bin/sh\nulimit -f 0\nexec '"+program+"' \"$@\"\n"), 0o700))
	limited := *u
	limited.program = full
	r := limited.runs("restore", backup, "--yes").exits(1)
	if strings.TrimSpace(r.stderr) == "" {
		t.Error("nothing says what failed")
	}
}

// Whoever may create objects can give them any field manager, and so passed off an object of theirs
// as one that a restoration had created.
func TestObjectWithTheFieldManagerOfARestoredOneIsNotTakenForRestored(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for _, name := range []string{"one", "other"} {
		s.Add(ownedBy(Secrets.Object("shop", name), missingOwner(Deployments)))
	}
	u := newUser(t, s)
	backup := u.runs("collect", "--yes", "-o", "json").exits(0).read().Backup
	u.runs("restore", backup, "secret/one", "-n", "shop", "--yes").exits(0)
	restored, err := s.Get(Secrets.GroupVersionResource, "shop", "one")
	u.must(err)

	forged := Secrets.Object("shop", "other")
	forged.ManagedFields = restored.ManagedFields
	s.Add(forged)
	_, err = s.Delete(Secrets.GroupVersionResource, "shop", "one", metav1.DeleteOptions{})
	u.must(err)
	replaced := Secrets.Object("shop", "one")
	replaced.ManagedFields = restored.ManagedFields
	s.Add(replaced)

	if r := u.runs("restore", backup, "--yes"); strings.Contains(r.stderr, "An earlier restore created") {
		t.Errorf("it takes an object of somebody else for restored: %s%s", r.stdout, r.stderr)
	}
}
