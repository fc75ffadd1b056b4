package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCollectWithoutTerminalNeedsConfirmation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  func(digest string) []string
		words func(digest string) []string // nil: collect runs without a confirmation
	}{
		"without confirmation": {
			func(string) []string { return nil },
			func(digest string) []string {
				return []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm " + digest}
			},
		},
		"the number is read from a pipe": {
			func(string) []string { return []string{"<3"} },
			func(digest string) []string { return []string{"standard input is not a terminal", digest} },
		},
		"--yes": {func(string) []string { return []string{"--yes"} }, nil},
		"-y":    {func(string) []string { return []string{"-y"} }, nil},
		"--confirm with the digest that was shown": {func(digest string) []string { return []string{"--confirm", digest} }, nil},
		"--confirm with another digest": {
			func(string) []string { return []string{"--confirm", "0123456789abcdef"} },
			func(digest string) []string {
				return []string{"the plan differs from the confirmed one: its digest is " + digest + ", not 0123456789abcdef"}
			},
		},
		"--confirm with another digest, and --yes": {
			func(string) []string { return []string{"--confirm", "0123456789abcdef", "--yes"} },
			func(digest string) []string { return []string{"its digest is " + digest} },
		},
		"--max-deletes is too small": {
			func(string) []string { return []string{"--yes", "--max-deletes", "2"} },
			func(string) []string {
				return []string{"error: the plan deletes 3 objects, more than --max-deletes allows (2)", "hint: to allow it, use --max-deletes 3"}
			},
		},
		"--confirm, but --max-deletes is too small": {
			func(digest string) []string { return []string{"--confirm", digest, "--max-deletes", "0"} },
			func(string) []string { return []string{"hint: to allow it, use --max-deletes 3"} },
		},
		"--max-deletes is large enough": {func(string) []string { return []string{"--yes", "--max-deletes=3"} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("confirm")
			objects := s.createGarbage(ns, 3)
			digest := s.tool().plan("-n", ns).Digest
			s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "digest "+digest).
				warns(t, "Run exactly this plan: kubectl gc collect -n "+ns+" --confirm "+digest)
			tool, args := s.tool(), c.args(digest)
			if len(args) == 1 && args[0] == "<3" {
				tool.stdin, args = "3\n", nil
			}
			line := append([]string{"collect", "-n", ns}, args...)
			if c.words == nil {
				tool.gc(line...).exits(t, 0).shows(t, "deleted 3")
				s.requireGone(objects...)
				return
			}
			tool.gc(line...).exits(t, 4).shows(t, "delete 3. Complete scan.").warns(t, c.words(digest)...)
			if r := tool.gc(append(line, "-o", "json")...).exits(t, 4).warns(t, c.words(digest)...); r.Stdout != "" {
				t.Errorf("standard output is not empty: %s", r.Stdout)
			}
			s.requireUnchanged(objects...)
		})
	}
}

// A digest covers what the preview showed. Changes outside of the preview leave it valid, and any
// other change makes it invalid.
func TestCollectConfirmDigestCoversWhatWasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *scene, ns string, o object)
		acts      bool
	}{
		"an object got a label":                {func(s *scene, _ string, o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) }, true},
		"an unrelated object was created":      {func(s *scene, ns string, _ object) { s.create(configMap(ns, "unrelated")) }, true},
		"one more object is garbage":           {func(s *scene, ns string, _ object) { s.create(configMap(ns, "more", ownedBy(missingOwner()))) }, false},
		"one object is not garbage any more":   {func(s *scene, _ string, o object) { s.setOwners(o) }, false},
		"one object was replaced":              {func(s *scene, _ string, o object) { s.setOwners(s.replace(o), missingOwner()) }, false},
		"a finalizer holds an object":          {func(s *scene, _ string, o object) { s.patch(o, `{"metadata":{"finalizers":["example.com/hold"]}}`) }, false},
		"a dependent would be deleted as well": {func(s *scene, ns string, o object) { s.create(secret(ns, "below", ownedBy(referenceTo(o)))) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("shown")
			objects := s.createGarbage(ns, 2)
			digest := s.tool().plan("-n", ns).Digest
			c.meanwhile(s, ns, objects[0])
			if c.acts {
				s.gc("collect", "-n", ns, "--confirm", digest).exits(t, 0)
				s.requireGone(objects...)
				return
			}
			s.gc("collect", "-n", ns, "--confirm", digest).exits(t, 4).warns(t, "not "+digest)
			s.requireUnchanged(objects[1])
		})
	}
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
