package e2e

import (
	"strings"
	"testing"
)

// lacks requires that words do not occur on standard output.
func (r result) lacks(t testing.TB, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(r.Stdout, w) {
			t.Errorf("kubectl gc %s says %q: %s", r.output(), w, short(r.Stdout))
		}
	}
}

// inOrder requires that the last of the words comes after all others.
func (r result) inOrder(t testing.TB, words ...string) {
	t.Helper()
	last := strings.Index(r.Stdout, words[len(words)-1])
	for _, w := range words[:len(words)-1] {
		if index := strings.Index(r.Stdout, w); index < 0 || index > last {
			t.Errorf("kubectl gc %s does not say %q before %q: %s", r.output(), w, words[len(words)-1], short(r.Stdout))
		}
	}
}

func TestCollectAtTerminalRequiresTypedNumber(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("typed")
	doomed := s.createGarbage(ns, 3)
	shared := s.create(secret(ns, "shared", ownedBy(referenceTo(s.create(configMap(ns, "owner"))), missingOwner())))
	const question = "Delete 3 objects, change 1? Type the number of objects to delete: "
	for _, c := range []struct {
		name, keys string
		code       int
		says       string
	}{
		{"another number", "4\n", 4, "error: not confirmed: nothing was changed"},
		{"the number and another one", "3 4\n", 4, "not confirmed"},
		{"yes", "yes\n", 4, "not confirmed"},
		{"nothing", "\n", 4, "not confirmed"},
		{"the end of the input, then the number", "\x043\n", 4, "not confirmed"},
		{"an interrupt after half the number", "3\x03", 130, "interrupted: nothing was changed"},
		{"the number, with blanks", "  3 \n", 0, "deleted 3, unlinked 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tty := s.tool().atTerminal("collect", "-n", ns, "--max-deletes=1")
			tty.awaitText(question)
			s.requireUnchanged(append(doomed, shared)...)
			tty.press(c.keys)
			tty.wait().exits(t, c.code).shows(t, c.says).inOrder(t, "delete 3, unlink 1. Complete scan.", question)
			if c.code != 0 {
				s.requireUnchanged(append(doomed, shared)...)
				return
			}
			s.requireGone(doomed...)
		})
	}
}

func TestCollectAtTerminalAsksForYesIfNothingIsDeleted(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("typed")
	owner := s.create(configMap(ns, "owner"))
	shared := s.create(secret(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	for _, c := range []struct {
		keys string
		code int
	}{{"1\n", 4}, {"y\n", 4}, {"yes\n", 0}} {
		s.requireUnchanged(shared)
		tty := s.tool().atTerminal("collect", "-n", ns)
		tty.awaitText("delete none? Type yes: ")
		tty.press(c.keys)
		tty.wait().exits(t, c.code)
	}
	s.requireReferences(shared, referenceTo(owner))
}

func TestCollectAtTerminalDoesNotAskNeedlessly(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unasked")
	s.tool().atTerminal("collect", "-n", ns).wait().exits(t, 0).shows(t, "Nothing to do. Complete scan.")
	s.createGarbage(ns, 2)
	r := s.tool().atTerminal("collect", "-n", ns, "--dry-run").wait().exits(t, 0).shows(t, "Nothing was changed")
	r.lacks(t, "Type")
	s.tool().atTerminal("collect", "-n", ns, "--yes").wait().exits(t, 0).shows(t, "deleted 2", "collect ░").lacks(t, "Type")
}

// What changed while a person was reading makes another plan, unless the plan stays the same: then an object is
// deleted in its current state.
func TestCollectAtTerminalRefusesIfClusterChangedBeforeConfirmation(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("reading")
	doomed := s.createGarbage(ns, 2)
	answer := func(meanwhile func(), args ...string) result {
		tty := s.tool().atTerminal(append([]string{"collect", "-n", ns}, args...)...)
		tty.awaitText("Delete 2 objects, change 0? Type the number of objects to delete: ")
		meanwhile()
		tty.press("2\n")
		return tty.wait()
	}
	for _, saved := range []bool{false, true} {
		var args []string
		if saved {
			args = []string{"--plan", s.savedPlan(ns)}
		}
		answer(func() { doomed[0] = s.setOwners(doomed[0]) }, args...).exits(t, 4).
			shows(t, "error: the cluster changed while you were reading, and the plan would be different now: nothing was changed", "hint: preview it again: kubectl gc collect ")
		s.requireUnchanged(doomed...)
		doomed[0] = s.setOwners(doomed[0], missingOwner())
	}
	answer(func() { s.patch(doomed[0], `{"metadata":{"labels":{"a":"b"}}}`) }).exits(t, 0).shows(t, "deleted 2 in ")
	s.requireGone(doomed...)
}

func TestCollectAtTerminalShowsTotalsOfALargePlan(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("totals")
	s.createGarbage(ns, 60)
	claim := s.create(claimOf(ns, "data", ownedBy(missingOwner())))
	tty := s.tool().atTerminal("collect", "-n", ns, "--color=never")
	tty.awaitText("Delete 61 objects, change 0? Type the number of objects to delete: ")
	tty.press("no\n")
	r := tty.wait().exits(t, 4).shows(t,
		"PersistentVolumeClaim/data  its only owner, Secret/gone, does not exist", "\ndelete   ConfigMap              60       "+ns, "\nblocked  PersistentVolumeClaim  1        "+ns,
		"\nSecret/gone does not exist  "+ns, "These are totals of 62 lines: to see every line, use -o wide.", "The deletion includes:")
	r.lacks(t, "orphan-001")

	wide := s.tool().atTerminal("collect", "-n", ns, "--dry-run", "-o", "wide")
	wide.wait().exits(t, 0).shows(t, "orphan-000", "orphan-059", "PersistentVolumeClaim/data").lacks(t, "These are totals")
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "orphan-000", "orphan-059").lacks(t, "These are totals")
	s.live(claim)
}
