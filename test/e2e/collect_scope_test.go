package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stepLines returns the steps of a plan in the order of their objects, one short line each.
func (p planned) stepLines() []string {
	out := []string{}
	for _, s := range p.Steps {
		out = append(out, s.Action+" "+s.Object.Kind+"/"+s.Object.Name)
	}
	slices.Sort(out)
	return out
}

func (s *scene) requirePlan(want []string, args ...string) {
	s.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, s.tool().plan(args...).stepLines()); diff != "" {
		s.Errorf("collect --dry-run %q (-want +got)\n%s", args, diff)
	}
}

func TestCollectByRuleStartsFromFlaggedObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("rules")
	owner := s.create(secret(ns, "owner"))
	replaced := s.create(configMap(ns, "replaced", ownedBy(referenceTo(owner, func(r *metav1.OwnerReference) { r.UID = "former" }))))
	below := s.create(secret(ns, "below-replaced", ownedBy(referenceTo(replaced))))
	missing := s.create(configMap(ns, "missing", ownedBy(missingOwner())))
	s.create(configMap(ns, "both", ownedBy(referenceTo(replaced), missingOwner())))
	released := s.create(configMap(ns, "released"))
	s.remove(released, metav1.DeletePropagationForeground)

	everything := []string{"delete ConfigMap/missing", "delete ConfigMap/replaced", "delete Secret/below-replaced", "unlink ConfigMap/both", "delete ConfigMap/both", "remove-finalizer ConfigMap/released"}
	s.requirePlan(everything, "-n", ns)
	s.requirePlan([]string{"delete ConfigMap/replaced", "delete Secret/below-replaced", "delete ConfigMap/both"}, "-n", ns, "--rule", "replaced-owner")
	s.requirePlan([]string{}, "-n", ns, "--rule", "cross-namespace-owner,owner-cycle")
	s.requirePlan(everything, "-n", ns, "--rule", "replaced-owner", "--rule=missing-owner,blocked-deletion")

	s.gc("collect", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).warns(t, "kubectl gc collect -n "+ns+" --rule replaced-owner --confirm ")
	s.tool().collect("-n", ns, "--rule", "replaced-owner")
	s.requireGone(replaced, below)
	s.requireUnchanged(missing)
	if s.gone(released) {
		t.Error("a deletion that the rule does not report was completed")
	}
	s.tool().collect("-n", ns)
	s.requireGone(missing, released)
}

// -n limits a run to objects of one namespace. Dependents in other namespaces still count.
func TestCollectInOneNamespaceTouchesNoOther(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	here, there := s.namespace("here"), s.namespace("there")
	mine, theirs := s.create(configMap(here, "orphan", ownedBy(missingOwner()))), s.create(configMap(there, "orphan", ownedBy(missingOwner())))
	global := s.create(gadget("e2e-orphan", ownedBy(reference(customGroup+"/v1", "Gadget", "gone", "gone"))))
	// A deletion blocked by a dependent in another namespace, whose reference is invalid but
	// still blocks.
	blocked := s.create(configMap(here, "blocked"))
	blocker := s.create(secret(there, "blocker", ownedBy(referenceTo(blocked, blocking))))
	s.remove(blocked, metav1.DeletePropagationForeground)

	r := s.gc("collect", "-n", here, "--yes").exits(t, 1)
	r.shows(t, "deleted 1", "1 blocked: ConfigMap/blocked")
	s.requireGone(mine)
	s.requireUnchanged(theirs, global, blocker)
	if s.gone(blocked) {
		t.Error("the deletion ended although something blocks it")
	}
	r = s.gc("collect", "-n", here, "--dry-run").exits(t, 0).shows(t, "blocked", "Secret/blocker")
	r.lacks(t, "ConfigMap/orphan", "Gadget/")

	s.tool().collect("-n", there)
	s.requireGone(theirs, blocker)
	s.requireUnchanged(global)
	s.tool().collect("-n", here)
	s.requireGone(blocked)
	if got := s.tool().plan("-A"); !slices.Contains(got.stepLines(), "delete Gadget/e2e-orphan") {
		t.Errorf("the whole cluster: %v", got.stepLines())
	}
}

func TestCollectWithPermissionsInOneNamespace(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bobs")
	orphan := s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	global := s.create(configMap(ns, "global", ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone"))))
	waits := s.create(configMap(ns, "waits"))
	s.remove(waits, metav1.DeletePropagationForeground)
	s.grant("bob", ns, []any{"*"}, []any{"*"}, []any{"list", "get", "delete", "patch"})
	bob := s.toolAs("bob")

	// Dependents may be in any namespace, so no finalizer is removed.
	bob.gc("collect", "-n", ns, "--yes").exits(t, 1).
		shows(t, "delete", "ConfigMap/orphan", "blocked", "ConfigMap/waits", "Incomplete scan", "deleted 1", "1 blocked: ConfigMap/waits").
		warns(t, "could not be read", "forbidden")
	s.requireGone(orphan)
	s.requireUnchanged(global)
	if s.gone(waits) {
		t.Error("a finalizer was removed although not everything was scanned")
	}
}
