package e2e

import (
	"net/http"
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
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *scene, o object)
		says      string
	}{
		"its labels changed":                    {func(s *scene, o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) }, "it changed since the plan was made"},
		"its owners changed":                    {func(s *scene, o object) { s.setOwners(o, reference("v1", "Secret", "other", "other")) }, "it changed since the plan was made"},
		"its owners were removed":               {func(s *scene, o object) { s.setOwners(o) }, "the garbage collector would no longer change it"},
		"it was deleted":                        {func(s *scene, o object) { s.remove(o, metav1.DeletePropagationBackground) }, "the garbage collector would no longer change it"},
		"it was replaced (L28)":                 {func(s *scene, o object) { s.setOwners(s.replace(o), missingOwner()) }, "the garbage collector would no longer change it"},
		"an owner of the same name was created": {func(s *scene, o object) { s.create(secret(o.GetNamespace(), "gone")) }, "the garbage collector would now do something else with it, or for another reason"},
		"it is being deleted":                   {func(s *scene, o object) { s.remove(o, metav1.DeletePropagationForeground) }, "it changed since the plan was made"},
		"it got a finalizer":                    {func(s *scene, o object) { s.patch(o, `{"metadata":{"finalizers":["example.com/hold"]}}`) }, "it changed since the plan was made"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("changed")
			changed := s.create(configMap(ns, "changed", ownedBy(missingOwner())))
			other := s.create(configMap(ns, "other", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
			file := s.savedPlan(ns)
			c.meanwhile(s, changed)
			state := func() (types.UID, string) {
				live, err := s.client(changed).Get(t.Context(), changed.GetName(), metav1.GetOptions{})
				if err != nil {
					return "", ""
				}
				return live.GetUID(), live.GetResourceVersion()
			}
			uid, version := state()
			s.gc("collect", "-n", ns, "--plan", file, "--dry-run").exits(t, 0).shows(t, "ConfigMap/changed  refused: "+c.says, "1 of 2 steps of the saved plan are refused.")
			s.gc("collect", "-n", ns, "--plan", file).exits(t, 4)
			s.requireUnchanged(other)
			r := s.gc("collect", "-n", ns, "--plan", file, "--yes", "-o", "json").exits(t, 1)
			got := decode[collected](t, r)
			if got.Summary.Done != 1 || got.Summary.Failed != 1 {
				t.Errorf("%+v", got.Summary)
			}
			for _, step := range got.Steps {
				if step.Status == "failed" && (step.Object.Name != "changed" || !strings.Contains(step.Result.Message, c.says)) {
					t.Errorf("%s: %s", step.Object, step.Result.Message)
				}
			}
			s.requireGone(other)
			if nowUID, now := state(); nowUID != uid || now != version {
				t.Error("what changed was written to")
			}
		})
	}
}

// The owner cannot be created again with its UID, but a patch can make the reference name an
// owner that exists.
func TestCollectRefusesStepWhoseOwnerExistsNow(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("changed")
	owner := s.create(secret(ns, "owner"))
	dependent := s.create(configMap(ns, "dependent", ownedBy(referenceTo(owner, named("mistyped")))))
	file := s.savedPlan(ns)
	dependent = s.setOwners(dependent, referenceTo(owner))
	s.gc("collect", "-n", ns, "--plan", file, "--yes").exits(t, 1).shows(t, "ConfigMap/dependent  refused: the garbage collector would no longer change it")
	s.requireUnchanged(dependent)
}

func TestCollectRefusesEditedPlan(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("edited")
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	other := s.create(configMap(ns, "other"))
	file := s.savedPlan(ns)
	content, err := os.ReadFile(file)
	s.must(err)
	whole := string(content)
	edit := func(from, to string) string {
		if !strings.Contains(whole, from) {
			t.Fatalf("nothing to replace: %s", from)
		}
		return strings.ReplaceAll(whole, from, to)
	}
	for name, c := range map[string]struct {
		content string
		words   []string
	}{
		"another object":          {edit(string(orphan.GetUID()), string(other.GetUID())), []string{"changed after it was made"}},
		"another name":            {edit(`"name": "orphan"`, `"name": "other"`), []string{"changed after it was made"}},
		"another policy":          {edit(`"Background"`, `"Orphan"`), []string{"changed after it was made"}},
		"another resourceVersion": {edit(`"resourceVersion": "`+orphan.GetResourceVersion(), `"resourceVersion": "1`), []string{"changed after it was made"}},
		"another action":          {edit(`"action": "delete"`, `"action": "unlink"`), []string{"changed after it was made"}},
		"an additional field":     {edit(`"mode"`, `"force": true, "mode"`), []string{"force"}},
		"the end is missing":      {whole[:len(whole)/2], []string{"not a plan"}},
		"it is empty":             {"", []string{"the file is empty"}},
		"it has a later version":  {edit("v1alpha1", "v9"), []string{"v9", "make a new one"}},
		"it is a snapshot":        {edit(`"kind": "Plan"`, `"kind": "Snapshot"`), []string{"Snapshot", "not a plan"}},
		"it has two documents":    {whole + whole, []string{"not a plan", "after top-level value"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			edited := s.writeFile("plan.json", c.content)
			r := s.gc("collect", "-n", ns, "--plan", edited, "--yes").exits(t, 2).warns(t, append(c.words, "error: read plan "+edited+": ")...)
			if r.Stdout != "" || strings.Count(r.Stderr, "\n") != 1 {
				t.Errorf("not one line: %s%s", r.Stdout, r.Stderr)
			}
		})
	}
	s.gc("collect", "-n", ns, "--plan", filepath.Join(t.TempDir(), "none"), "--yes").exits(t, 2).warns(t, "no such file")
	s.requireUnchanged(orphan, other)
}

// The other cluster has objects of the same names, but with other UIDs.
func TestCollectRefusesPlanOfAnotherCluster(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("elsewhere")
	before := s.createGarbage(ns, 3)
	file := s.savedPlan(ns)
	var here []object
	for _, o := range before {
		here = append(here, s.setOwners(s.replace(o), missingOwner()))
	}
	f := s.throughProxy(nil).allowWrites()
	r := f.gc("collect", "-n", ns, "--plan", file, "--yes").exits(t, 1)
	for _, o := range here {
		r.shows(t, "ConfigMap/"+o.GetName()+"  refused: the garbage collector would no longer change it")
	}
	if writes := f.recordedWrites(); len(writes) > 0 {
		t.Errorf("it writes: %+v", writes)
	}
	s.requireUnchanged(here...)
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

func TestCollectRefusesSavedPlanIfLessCanBeRead(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("blinder")
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	file := s.savedPlan(ns)
	f := s.throughProxy(func(http.Handler) []fault {
		return []fault{{reading(listOf("leases")), respondStatus(403, "Forbidden", "no")}}
	}).allowWrites()
	const why = "this scan could not read what the scan of the saved plan read: leases.coordination.k8s.io"
	f.gc("collect", "-n", ns, "--plan", file, "--dry-run").exits(t, 0).warns(t, "warning: a run would refuse this plan, because "+why)
	f.gc("collect", "-n", ns, "--plan", file, "--yes").exits(t, 4).warns(t, "error: "+why, "hint: make a new plan")
	s.requireUnchanged(orphan)
	// A plan that records the gap was made while the type could not be read, so it may be
	// executed.
	knowing := filepath.Join(t.TempDir(), "knowing.json")
	f.gc("collect", "-n", ns, "--dry-run", "--plan-out", knowing).exits(t, 0)
	f.gc("collect", "-n", ns, "--plan", knowing, "--yes").exits(t, 1).shows(t, "deleted 1 in ", "the scan afterwards was incomplete")
	s.requireGone(orphan)
}
