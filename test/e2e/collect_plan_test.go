package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// savedPlan writes the plan of a dry run in a namespace to a file and returns its path.
func (s *scene) savedPlan(ns string, args ...string) (file string) {
	s.Helper()
	file = filepath.Join(s.TempDir(), "plan.json")
	s.gc(append([]string{"collect", "-n", ns, "--dry-run", "--plan-out", file}, args...)...).exits(s, 0)
	return file
}

func TestCollectExecutesSavedPlan(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("planned")
	s.createEveryAction(ns)
	file := s.savedPlan(ns)
	printed := s.gc("collect", "-n", ns, "--dry-run", "-o", "json").exits(t, 0)
	content, err := os.ReadFile(file)
	s.must(err)
	// The printed plan and the saved plan are equal, except that the saved one also names the
	// cluster and therefore has another checksum.
	identity := regexp.MustCompile(`(?m)^    "clusterUID": "[0-9a-f-]{36}",\n`)
	checksum := regexp.MustCompile(`(?m)^    "checksum": "[0-9a-f]{64}"\n`)
	if !identity.Match(content) || checksum.ReplaceAllString(identity.ReplaceAllString(string(content), ""), "") != checksum.ReplaceAllString(printed.Stdout, "") {
		t.Error("the file differs from the output of -o json")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	planned := decode[planned](t, printed)
	got := s.tool().collect("-n", ns, "--plan", file)
	if got.Digest != planned.Digest || got.Summary != (collectedSummary{Done: len(planned.Steps)}) {
		t.Errorf("%+v", got.Summary)
	}
	for i, step := range got.Steps {
		if step.ID != planned.Steps[i].ID || step.Object != planned.Steps[i].Object {
			t.Errorf("step %d is %s on %s, planned was %s on %s", i, step.ID, step.Object, planned.Steps[i].ID, planned.Steps[i].Object)
		}
	}
	// A second execution of the same plan does nothing.
	f := s.throughProxy(nil).allowWrites()
	again := decode[collected](t, f.gc("collect", "-n", ns, "--plan", file, "--yes", "-o", "json").exits(t, 1))
	if again.Summary.Done > 0 || again.Summary.Failed != len(planned.Steps) || len(f.recordedWrites()) > 0 {
		t.Errorf("the second time: %+v, %d writes", again.Summary, len(f.recordedWrites()))
	}
}

// Steps whose objects have changed since the plan was saved are refused. All others are done.
func TestCollectRefusesObjectsChangedSincePlanWasSaved(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("changed")
	const changed, kept = "it changed since the plan was made", "the garbage collector would no longer change it"
	owner := s.create(secret(ns, "owner"))
	cases := map[string]struct {
		meanwhile func(o object)
		says      string
	}{
		"labelled":   {func(o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) }, changed},
		"other":      {func(o object) { s.setOwners(o, reference("v1", "Secret", "other", "other")) }, changed},
		"unlinked":   {func(o object) { s.setOwners(o) }, kept},
		"repaired":   {func(o object) { s.setOwners(o, referenceTo(owner)) }, kept},
		"deleted":    {func(o object) { s.remove(o, metav1.DeletePropagationBackground) }, kept},
		"replaced":   {func(o object) { s.setOwners(s.replace(o), missingOwner()) }, kept},
		"leaving":    {func(o object) { s.remove(o, metav1.DeletePropagationForeground) }, changed},
		"held":       {func(o object) { s.patch(o, `{"metadata":{"finalizers":["example.com/hold"]}}`) }, changed},
		"succession": {func(o object) { s.create(secret(ns, "predecessor")) }, "the garbage collector would now do something else with it, or for another reason"},
	}
	objects := map[string]object{}
	for name := range cases {
		owner := missingOwner()
		if name == "succession" {
			owner = reference("v1", "Secret", "predecessor", "gone")
		}
		objects[name] = s.create(configMap(ns, name, ownedBy(owner)))
	}
	plain := s.create(configMap(ns, "plain", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
	file := s.savedPlan(ns)
	state := map[string]types.UID{}
	for name, c := range cases {
		c.meanwhile(objects[name])
		if live, err := s.client(objects[name]).Get(t.Context(), name, metav1.GetOptions{}); err == nil {
			state[name] = live.GetUID() + "@" + types.UID(live.GetResourceVersion())
		}
	}
	preview := s.gc("collect", "-n", ns, "--plan", file, "--dry-run").exits(t, 0).shows(t, fmt.Sprintf("%d of %d steps of the saved plan are refused.", len(cases), len(cases)+1))
	s.gc("collect", "-n", ns, "--plan", file).exits(t, 4)
	s.requireUnchanged(plain)
	got := decode[collected](t, s.gc("collect", "-n", ns, "--plan", file, "--yes", "-o", "json").exits(t, 1))
	if got.Summary.Done != 1 || got.Summary.Failed != len(cases) {
		t.Errorf("%+v", got.Summary)
	}
	for _, step := range got.Steps {
		if name := step.Object.Name; name != "plain" && (step.Status != "failed" || !strings.Contains(step.Result.Message, cases[name].says)) {
			t.Errorf("%s is %s: %s", step.Object, step.Status, step.Result.Message)
		}
	}
	s.requireGone(plain)
	for name, c := range cases {
		preview.shows(t, "refused: "+c.says)
		live, err := s.client(objects[name]).Get(t.Context(), name, metav1.GetOptions{})
		if was, there := state[name]; there != (err == nil) || err == nil && was != live.GetUID()+"@"+types.UID(live.GetResourceVersion()) {
			t.Errorf("%s was written to", name)
		}
	}
}

// What else makes a file invalid is tested in pkg/plan.
func TestCollectRefusesEditedPlan(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("edited")
	orphan, other := s.create(configMap(ns, "orphan", ownedBy(missingOwner()))), s.create(configMap(ns, "other"))
	content, err := os.ReadFile(s.savedPlan(ns))
	s.must(err)
	edited := s.writeFile("plan.json", strings.ReplaceAll(string(content), string(orphan.GetUID()), string(other.GetUID())))
	r := s.gc("collect", "-n", ns, "--plan", edited, "--yes").exits(t, 2).warns(t, "error: read plan "+edited+": ", "changed after it was made")
	if r.Stdout != "" || strings.Count(r.Stderr, "\n") != 1 {
		t.Errorf("not one line: %s%s", r.Stdout, r.Stderr)
	}
	s.requireUnchanged(orphan, other)
}

func TestCollectRefusesSavedPlanIfNamespaceHasNewContents(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("grown")
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	doomed := s.create(newObject("v1", "Namespace", "", ns+"-doomed", ownedBy(reference("v1", "Namespace", "gone", "gone"))))
	inside := s.create(configMap(ns+"-doomed", "inside"))
	file := filepath.Join(t.TempDir(), "plan.json")
	digest := s.previewDigest(s.gc("collect", "--dry-run", "--plan-out", file).exits(t, 0).shows(t, "Namespace/"+ns+"-doomed", "1 object in it"))
	grown := s.create(secret(ns+"-doomed", "new"))
	s.gc("collect", "--plan", file, "--confirm", digest).exits(t, 1).
		shows(t, "Namespace/"+ns+"-doomed  refused: more would be deleted with it than the plan shows: Secret/new", "deleted 1")
	s.requireUnchanged(doomed, inside, grown)
	s.requireGone(orphan)
}
