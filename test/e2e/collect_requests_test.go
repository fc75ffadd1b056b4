package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lost is a reference to a Secret that never was.
func lost() metav1.OwnerReference { return reference("v1", "Secret", "gone", "gone") }

// everyAct builds what makes a pass take every kind of step with every policy,
// on builtin and on custom kinds.
func (s *scene) everyAct(ns string) {
	s.Helper()
	s.custom()
	owner := s.create(secret(ns, "owner"))
	s.create(configMap(ns, "orphan", ownedBy(lost())))
	s.create(widget(ns, "orphan", ownedBy(lost())))
	s.create(configMap(ns, "shared", ownedBy(to(owner), lost())))
	s.create(widget(ns, "shared", ownedBy(lost(), to(owner))))
	// It waits for a dependent, which has one itself: deleted in the foreground.
	waiting := s.create(widget(ns, "waiting"))
	child := s.create(configMap(ns, "child", ownedBy(to(waiting, blocking))))
	s.create(secret(ns, "grandchild", ownedBy(to(child, blocking))))
	s.remove(waiting, metav1.DeletePropagationForeground)
	// Its finalizer asks for its dependents to stay.
	leaving := s.create(configMap(ns, "leaving", ownedBy(lost()), heldBy("orphan")))
	s.create(secret(ns, "left", ownedBy(to(leaving))))
	// A circle, of which one half is deleted in the foreground.
	one, two := s.create(widget(ns, "one")), s.create(widget(ns, "two"))
	s.own(one, to(two, blocking))
	s.own(two, to(one, blocking))
	s.remove(one, metav1.DeletePropagationForeground)
}

func TestCollectBindsEveryWriteToTheStateThatItRestsOn(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bound-writes")
	s.everyAct(ns)
	planned := s.tool().plan("-n", ns)
	uids := map[string]bool{}
	for _, step := range planned.Steps {
		uids[step.Object.Name+" "+step.Object.UID] = true
	}
	f := s.throughProxy(nil).acting()
	got := f.tool.collect("-n", ns)
	if got.Summary.Done != len(planned.Steps) || got.Summary.Left+got.Summary.Blocked > 0 {
		t.Errorf("of %d steps: %+v", len(planned.Steps), got.Summary)
	}
	writes := f.wrote()
	if len(writes) != len(planned.Steps) {
		t.Errorf("%d writes for %d steps", len(writes), len(planned.Steps))
	}
	met := map[string]bool{}
	for _, w := range writes {
		uid, act := "", w.Method
		switch w.Method {
		case http.MethodDelete:
			uid, act = boundDelete(t, w)
		case http.MethodPatch:
			uid = boundPatch(t, w)
		default:
			t.Errorf("it sends %s %s", w.Method, w.Path)
		}
		met[act] = true
		if !uids[w.name()+" "+uid] {
			t.Errorf("%s %s is bound to the UID %q, which is not that of a planned object", w.Method, w.Path, uid)
		}
		if w.Query.Has("dryRun") {
			t.Errorf("%s %s asks for %v", w.Method, w.Path, w.Query)
		}
	}
	for _, act := range []string{"Background", "Foreground", "Orphan", http.MethodPatch} {
		if !met[act] {
			t.Errorf("no write with %s: the scene shows too little", act)
		}
	}
}

// boundDelete checks the body of a DELETE, and answers the UID that it is bound
// to and its policy.
func boundDelete(t *testing.T, w written) (uid, policy string) {
	t.Helper()
	var body struct {
		APIVersion    string `json:"apiVersion"`
		Kind          string `json:"kind"`
		Preconditions struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
		PropagationPolicy string `json:"propagationPolicy"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(w.Body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		t.Errorf("DELETE %s: %v in %s", w.Path, err, w.Body)
	}
	if body.Preconditions.UID == "" || body.Preconditions.ResourceVersion == "" || body.PropagationPolicy == "" {
		t.Errorf("DELETE %s is bound to nothing, or has no policy: %s", w.Path, w.Body)
	}
	return body.Preconditions.UID, body.PropagationPolicy
}

// boundPatch checks the body of a PATCH, and answers the UID that it is bound to.
func boundPatch(t *testing.T, w written) (uid string) {
	t.Helper()
	var ops []struct{ Op, Path, Value string }
	var raw []map[string]any
	if err := json.Unmarshal([]byte(w.Body), &raw); err != nil || w.Type != "application/json-patch+json" {
		t.Errorf("PATCH %s: %v in %s %s", w.Path, err, w.Type, w.Body)
	}
	for _, op := range raw {
		ops = append(ops, struct{ Op, Path, Value string }{fmt.Sprint(op["op"]), fmt.Sprint(op["path"]), fmt.Sprint(op["value"])})
	}
	version := false
	for _, op := range ops {
		switch {
		case op.Op == "test" && op.Path == "/metadata/uid":
			uid = op.Value
		case op.Op == "replace" && op.Path == "/metadata/resourceVersion":
			version = op.Value != ""
		}
	}
	if uid == "" || !version {
		t.Errorf("PATCH %s is bound to nothing: %s", w.Path, w.Body)
	}
	return uid
}

func TestCollectTakesOneRequestForEachObjectThatDidNotChange(t *testing.T) {
	const many = 200
	s := newScene(t)
	ns := s.namespace("many")
	s.many(ns, many)
	f := s.throughProxy(nil).acting()
	if got := f.tool.collect("-n", ns); got.Summary != (collectedSummary{Done: many}) {
		t.Errorf("%+v", got.Summary)
	}
	if writes := len(f.wrote()); writes != many {
		t.Errorf("%d writes for %d objects", writes, many)
	}
	if singles := f.asked(reading(getOf("configmaps"))); len(singles) > 0 {
		t.Errorf("%d objects were asked for one by one, such as %s", len(singles), singles[0].URL)
	}
	// The scan, the search for the owner elsewhere, two pages for the backup, and the scan
	// after the run.
	if lists := f.asked(reading(listOf("configmaps"))); len(lists) > 5 {
		t.Errorf("ConfigMaps were listed %d times", len(lists))
	}
}

// many creates so many ConfigMaps whose owner is gone, with names in order.
func (s *scene) many(ns string, n int) []object {
	s.Helper()
	var out []object
	for i := range n {
		out = append(out, s.create(configMap(ns, fmt.Sprintf("orphan-%03d", i), ownedBy(lost()), with("data", map[string]any{"number": fmt.Sprint(i)}))))
	}
	return out
}

// L23: the cluster's own collector would drop the good one, too.
func TestCollectKeepsTheGoodReferenceOfTwoWithOneUID(t *testing.T) {
	s := newScene(t)
	s.custom()
	ns := s.namespace("twins")
	owner := s.create(secret(ns, "owner"))
	for name, o := range map[string]object{
		"builtin, the bad one first": s.create(configMap(ns, "bad-first", ownedBy(to(owner, named("other")), to(owner, blocking)))),
		"builtin, the bad one last":  s.create(configMap(ns, "bad-last", ownedBy(to(owner, blocking), to(owner, named("other"))))),
		"custom, the bad one first":  s.create(widget(ns, "bad-first", ownedBy(to(owner, named("other")), to(owner, blocking)))),
		"custom, the bad one last":   s.create(widget(ns, "bad-last", ownedBy(to(owner, blocking), to(owner, named("other"))))),
	} {
		s.tool().collect("-n", ns)
		live, err := s.at(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
		s.must(err)
		if got := live.GetOwnerReferences(); !slices.EqualFunc(got, []metav1.OwnerReference{to(owner, blocking)}, sameOwner) {
			t.Errorf("%s: it is left with %v", name, got)
		}
	}
}

func sameOwner(a, b metav1.OwnerReference) bool {
	blocks := func(r metav1.OwnerReference) bool { return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion }
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID && blocks(a) == blocks(b)
}
