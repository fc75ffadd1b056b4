package e2e

import (
	"fmt"
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
		"without confirmation":                      {"", nil, []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm " + digest}},
		"the number is read from a pipe":            {"3\n", nil, []string{"standard input is not a terminal", digest}},
		"--confirm with another digest, and --yes":  {"", []string{"--confirm", "0123456789abcdef", "--yes"}, []string{"the plan differs from the confirmed one: its digest is " + digest + ", not 0123456789abcdef"}},
		"--confirm, but --max-deletes is too small": {"", []string{"--confirm", digest, "--max-deletes", "2"}, []string{"error: the plan deletes 3 objects, more than --max-deletes allows (2)", "hint: to allow it, use --max-deletes 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			tool := s.tool()
			tool.stdin = c.stdin
			tool.gc(append([]string{"collect", "-n", ns}, c.args...)...).exits(t, 4).shows(t, "delete 3. Complete scan.").warns(t, c.words...)
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
		"The deletion includes:\n", "  CustomResourceDefinition/alarms." + group + ": 1 object of its kind deleted along with it\n", "  Namespace/" + ns + "-doomed: 1 object in it deleted along with it\n",
		"  ConfigMap/e2e-alarm -n kube-system\n", fmt.Sprintf("  PersistentVolumeClaim/data -n %s\n", ns),
	}
	r := s.gc("collect").exits(t, 4).warns(t, names...)
	for _, unsaid := range []string{"ConfigMap/plain", "ConfigMap/inside"} {
		result{Stdout: r.Stderr}.lacks(t, unsaid)
	}
	// At a terminal, the same objects are listed before the question.
	tty := s.tool().atTerminal("collect")
	tty.awaitText("Type the number of objects to delete: ")
	tty.press("no\n")
	said := tty.wait().exits(t, 4)
	said.inOrder(t, append(names, "Type the number of objects to delete: ")...)
	s.requireUnchanged(doomed, claim, plain)
}
