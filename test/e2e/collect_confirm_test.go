package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
