package trust

import (
	"regexp"
	"slices"
	"testing"
)

// Defect 7: a plan was confirmed while a Namespace held one object, and was executed when it held
// six.
func TestObjectsCreatedAfterConfirmationAreKept(t *testing.T) {
	t.Parallel()
	t.Run("a digest", func(t *testing.T) {
		t.Parallel()
		s := NewServer(t)
		garbage := garbageNamespace(s, 1)
		u := newUser(t, s)
		digest := u.runs("collect", "--dry-run", "-o", "json").exits(0).read().Digest

		addSecrets(s, garbage.Name, 5)
		u.runs("collect", "--confirm", digest).exits(4)
		requireKept(t, s, garbage)
	})
	for name, args := range map[string][]string{
		"collect at a prompt": {"collect"},
		"delete at a prompt":  {"delete", "namespace/doomed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			garbage := garbageNamespace(s, 1)
			u := newUser(t, s)
			tty := u.startAtTerminal(args...)
			number := tty.askedNumber()

			addSecrets(s, garbage.Name, 5)
			tty.press(number + "\n")
			tty.ends().exits(1, 4)
			requireKept(t, s, garbage)
		})
	}
}

// askedNumber waits for the question and returns the number of objects that it asks for.
func (tty *terminal) askedNumber() string {
	tty.Helper()
	screen := tty.awaitAny("to confirm: ", "Type the number")
	found := regexp.MustCompile(`(?i)delete (\d+) objects?`).FindAllStringSubmatch(screen, -1)
	if found == nil {
		tty.Fatalf("the question names no number of objects: %s", screen)
	}
	return found[len(found)-1][1]
}

// Defect 11: a complete and an incomplete scan gave the same digest, so that a plan confirmed
// after the one was executed after the other.
func TestConfirmationOfCompleteScanIsRefusedAfterIncompleteScan(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"delete":                    {"delete", "deployment/web", "-n", "shop"},
		"delete on the client side": {"delete", "deployment/web", "-n", "shop", "--client-side"},
		"collect":                   {"collect"},
		"repair":                    {"repair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			web := s.Add(Deployments.Object("shop", "web"))
			replicas := s.Add(ownedBy(ReplicaSets.Object("shop", "web-1"), referenceTo(web)))
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			u := newUser(t, s)
			preview := slices.Concat(command, []string{"--dry-run", "-o", "json"})
			complete := u.runs(preview...).exits(0).read()

			s.Lie(Listed(ConfigMaps), Forbid(ConfigMaps))
			incomplete := u.runs(preview...).exits(0).read()
			if !complete.Complete || incomplete.Complete || complete.Digest == incomplete.Digest {
				t.Errorf("complete: %t, %s; incomplete: %t, %s", complete.Complete, complete.Digest, incomplete.Complete, incomplete.Digest)
			}
			u.runs(slices.Concat(command, []string{"--confirm", complete.Digest})...).exits(4)
			requireKept(t, s, web, replicas, garbage)
			if w := s.Writes(); len(w) > 0 {
				t.Errorf("there were writes: %v", w)
			}
		})
	}
}
