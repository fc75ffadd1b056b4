package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// missingOwner returns a reference to a Secret that never existed.
func missingOwner() metav1.OwnerReference { return reference("v1", "Secret", "gone", "gone") }

// createEveryAction creates objects for which a plan needs every action with every propagation
// policy, on built-in and on custom types.
func (s *scene) createEveryAction(ns string) {
	s.Helper()
	s.defineTestKinds()
	owner := s.create(secret(ns, "owner"))
	s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	s.create(widget(ns, "orphan", ownedBy(missingOwner())))
	s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	s.create(widget(ns, "shared", ownedBy(missingOwner(), referenceTo(owner))))
	// This one waits for a dependent that has a dependent itself, so it is deleted in the
	// foreground.
	waiting := s.create(widget(ns, "waiting"))
	child := s.create(configMap(ns, "child", ownedBy(referenceTo(waiting, blocking))))
	s.create(secret(ns, "grandchild", ownedBy(referenceTo(child, blocking))))
	s.remove(waiting, metav1.DeletePropagationForeground)
	// Its finalizer asks the collector to orphan its dependents.
	leaving := s.create(configMap(ns, "leaving", ownedBy(missingOwner()), heldBy("orphan")))
	s.create(secret(ns, "left", ownedBy(referenceTo(leaving))))
	// One of the two objects of this cycle is deleted in the foreground.
	one, two := s.create(widget(ns, "one")), s.create(widget(ns, "two"))
	s.setOwners(one, referenceTo(two, blocking))
	s.setOwners(two, referenceTo(one, blocking))
	s.remove(one, metav1.DeletePropagationForeground)
}

func TestCollectSendsPreconditionsWithEveryWrite(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bound-writes")
	s.createEveryAction(ns)
	planned := s.tool().plan("-n", ns)
	uids := map[string]bool{}
	for _, step := range planned.Steps {
		uids[step.Object.Name+" "+step.Object.UID] = true
	}
	f := s.throughProxy(nil).allowWrites()
	got := f.tool.collect("-n", ns)
	if got.Summary.Done != len(planned.Steps) || got.Summary.Left+got.Summary.Blocked > 0 {
		t.Errorf("of %d steps: %+v", len(planned.Steps), got.Summary)
	}
	writes := f.recordedWrites()
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
			t.Errorf("%s %s requests %v", w.Method, w.Path, w.Query)
		}
	}
	for _, act := range []string{"Background", "Foreground", "Orphan", http.MethodPatch} {
		if !met[act] {
			t.Errorf("no write with %s: the scene shows too little", act)
		}
	}
}

// boundDelete checks the body of a DELETE and returns its UID precondition and its policy.
func boundDelete(t *testing.T, w recordedWrite) (uid, policy string) {
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

// boundPatch checks the body of a PATCH and returns its UID precondition.
func boundPatch(t *testing.T, w recordedWrite) (uid string) {
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

func TestCollectSendsOneRequestPerUnchangedObject(t *testing.T) {
	const many = 200
	s := newScene(t)
	ns := s.namespace("many")
	s.createGarbage(ns, many)
	f := s.throughProxy(nil).allowWrites()
	if got := f.tool.collect("-n", ns); got.Summary != (collectedSummary{Done: many}) {
		t.Errorf("%+v", got.Summary)
	}
	if writes := len(f.recordedWrites()); writes != many {
		t.Errorf("%d writes for %d objects", writes, many)
	}
	if singles := f.matching(reading(getOf("configmaps"))); len(singles) > 0 {
		t.Errorf("%d objects were requested one by one, such as %s", len(singles), singles[0].URL)
	}
	// At most five lists are needed: the scan, the search for the owner in other namespaces, two
	// pages for the backup, and the scan after the run.
	if lists := f.matching(reading(listOf("configmaps"))); len(lists) > 5 {
		t.Errorf("ConfigMaps were listed %d times", len(lists))
	}
}

// createGarbage creates n ConfigMaps whose owner does not exist. Their names are in ascending
// order.
func (s *scene) createGarbage(ns string, n int) []object {
	s.Helper()
	var out []object
	for i := range n {
		out = append(out, s.create(configMap(ns, fmt.Sprintf("orphan-%03d", i), ownedBy(missingOwner()), withField("data", map[string]any{"number": fmt.Sprint(i)}))))
	}
	return out
}
