package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCollectWithoutTerminalNeedsConfirmation(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("confirm")
	objects := s.createGarbage(ns, 3)
	digest := s.tool().plan("-n", ns).Digest
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "digest "+digest).
		warns(t, "Run exactly this plan: kubectl gc collect -n "+ns+" --confirm "+digest)
	for name, c := range map[string]struct {
		stdin string
		args  []string
		words []string
	}{
		"without confirmation":                      {"", nil, []string{"error: cannot ask for confirmation: standard input is not a terminal", "hint: use --yes, or --confirm " + digest}},
		"the number is read from a pipe":            {"3\n", nil, []string{"standard input is not a terminal", digest}},
		"--confirm with another digest, and --yes":  {"", []string{"--confirm", "0123456789abcdef", "--yes"}, []string{"the plan differs from the confirmed one: its digest is " + digest + ", not 0123456789abcdef"}},
		"--confirm, but --max-deletes is too small": {"", []string{"--confirm", digest, "--max-deletes", "2"}, []string{"error: the plan deletes 3 objects, more than --max-deletes allows (2)", "hint: to allow it, use --max-deletes 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			tool := s.tool()
			tool.stdin = c.stdin
			tool.gc(append([]string{"collect", "-n", ns}, c.args...)...).exits(t, 4).shows(t, "delete 3 in namespace "+ns+" on ", "Complete scan.").warns(t, c.words...)
			s.requireUnchanged(objects...)
		})
	}
	if r := s.gc("collect", "-n", ns, "-o", "json").exits(t, 4); r.Stdout != "" {
		t.Errorf("standard output is not empty: %s", r.Stdout)
	}
	s.gc("collect", "-n", ns, "-y", "--max-deletes=3").exits(t, 0).shows(t, "deleted 3")
	s.requireGone(objects...)
}

// A digest covers what the preview showed, and no more. That it covers everything shown is tested in pkg/plan.
func TestCollectConfirmDigestCoversWhatWasShown(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("shown")
	objects := s.createGarbage(ns, 2)
	first := s.tool().plan("-n", ns).Digest
	below := s.create(secret(ns, "below", ownedBy(referenceTo(objects[0]))))
	s.gc("collect", "-n", ns, "--confirm", first).exits(t, 4).warns(t, "not "+first)
	s.requireUnchanged(append(objects, below)...)
	second := s.tool().plan("-n", ns).Digest
	s.patch(objects[0], `{"metadata":{"labels":{"a":"b"}}}`)
	s.create(configMap(ns, "unrelated"))
	s.gc("collect", "-n", ns, "--confirm", second).exits(t, 0)
	s.requireGone(append(objects, below)...)
}

func TestCollectListsRiskyDeletionsOneByOne(t *testing.T) {
	s := newScene(t)
	const group = "alarm.example.com"
	crd := definition(group, "Alarm", "Namespaced", version("v1", true))
	crd.SetOwnerReferences([]metav1.OwnerReference{reference("v1", "Namespace", "gone", "gone")})
	s.define(crd)
	ns := s.namespace("alarm")
	s.create(newObject(group+"/v1", "Alarm", ns, "one"))
	doomed := s.create(newObject("v1", "Namespace", "", ns+"-doomed", ownedBy(reference("v1", "Namespace", "gone", "gone"))))
	s.create(configMap(ns+"-doomed", "inside"))
	s.create(configMap("kube-system", "e2e-alarm", ownedBy(missingOwner())))
	claim := s.create(newObject("v1", "PersistentVolumeClaim", ns, "data", ownedBy(missingOwner()), withField("spec", map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	})))
	plain := s.create(configMap(ns, "plain", ownedBy(missingOwner())))
	names := []string{
		"The deletion includes:\n", "  CustomResourceDefinition/alarms." + group + ": 1 object of its kind deleted with it\n", "  Namespace/" + ns + "-doomed: 1 object in it deleted with it\n",
		"  ConfigMap/e2e-alarm -n kube-system\n", fmt.Sprintf("  PersistentVolumeClaim/data -n %s\n", ns),
	}
	r := s.gc("collect").exits(t, 4).warns(t, names...)
	for _, unsaid := range []string{"ConfigMap/plain", "ConfigMap/inside"} {
		result{Stdout: r.Stderr}.lacks(t, unsaid)
	}
	// At a terminal, the same objects are listed before the question.
	tty := s.tool().atTerminal("collect")
	tty.awaitText(" to confirm: ")
	tty.press("no\n")
	said := tty.wait().exits(t, 4)
	said.inOrder(t, append(names, " to confirm: ")...)
	s.requireUnchanged(doomed, claim, plain)
}

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
	question := "Delete 3 objects and change 1 in namespace " + ns + " on "
	for _, c := range []struct {
		name, keys string
		code       int
		says       string
	}{
		{"another number", "4\n", 4, `Aborted: expected "3", got "4". Nothing was changed.`},
		{"the number and another one", "3 4\n", 4, `Aborted: expected "3", got "3 4"`},
		{"yes", "yes\n", 4, `Aborted: expected "3", got "yes"`},
		{"nothing", "\n", 4, `Aborted: expected "3", got ""`},
		{"the end of the input, then the number", "\x043\n", 4, `Aborted: expected "3", got ""`},
		{"an interrupt after half the number", "3\x03", 130, "interrupted: nothing was changed"},
		{"the number, with blanks", "  3 \n", 0, "deleted 3, unlinked 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.forSubtest(t)
			tty := s.tool().atTerminal("collect", "-n", ns, "--max-deletes=1")
			tty.awaitText("Type 3 to confirm: ")
			s.requireUnchanged(append(doomed, shared)...)
			tty.press(c.keys)
			tty.wait().exits(t, c.code).shows(t, c.says).inOrder(t, "delete 3, unlink 1 in namespace "+ns+" on ", "Complete scan.", question, "Type 3 to confirm: ")
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
		tty.awaitText("Nothing will be deleted. Type yes to confirm: ")
		tty.press(c.keys)
		tty.wait().exits(t, c.code)
	}
	s.requireReferences(shared, referenceTo(owner))
}

func TestCollectAtTerminalDoesNotAskNeedlessly(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unasked")
	s.tool().atTerminal("collect", "-n", ns).wait().exits(t, 0).shows(t, "Nothing to do in namespace "+ns+" on ", "Complete scan.")
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
	answer := func(meanwhile func()) result {
		tty := s.tool().atTerminal("collect", "-n", ns)
		tty.awaitText("Type 2 to confirm: ")
		meanwhile()
		tty.press("2\n")
		return tty.wait()
	}
	answer(func() { doomed[0] = s.setOwners(doomed[0]) }).exits(t, 4).
		shows(t, "error: the cluster changed while you were reading, and the plan would be different now: nothing was changed", "hint: preview it again: kubectl gc collect ")
	s.requireUnchanged(doomed...)
	doomed[0] = s.setOwners(doomed[0], missingOwner())
	answer(func() { s.patch(doomed[0], `{"metadata":{"labels":{"a":"b"}}}`) }).exits(t, 0).shows(t, "deleted 2 in ")
	s.requireGone(doomed...)
}
