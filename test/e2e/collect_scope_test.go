package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// acts are the steps of a plan in the order of their objects, briefly.
func (p planned) acts() []string {
	out := []string{}
	for _, s := range p.Steps {
		out = append(out, s.Action+" "+s.Object.Kind+"/"+s.Object.Name)
	}
	slices.Sort(out)
	return out
}

func (s *scene) plans(want []string, args ...string) {
	s.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, s.tool().plan(args...).acts()); diff != "" {
		s.Errorf("collect --dry-run %q (-want +got)\n%s", args, diff)
	}
}

func TestCollectByRuleBeginsWithWhatTheRuleSpeaksOf(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("rules")
	owner := s.create(secret(ns, "owner"))
	replaced := s.create(configMap(ns, "replaced", ownedBy(to(owner, func(r *metav1.OwnerReference) { r.UID = "former" }))))
	below := s.create(secret(ns, "below-replaced", ownedBy(to(replaced))))
	missing := s.create(configMap(ns, "missing", ownedBy(lost())))
	s.create(configMap(ns, "both", ownedBy(to(replaced), lost())))
	released := s.create(configMap(ns, "released"))
	s.remove(released, metav1.DeletePropagationForeground)

	everything := []string{"delete ConfigMap/missing", "delete ConfigMap/replaced", "delete Secret/below-replaced", "unlink ConfigMap/both", "delete ConfigMap/both", "remove-finalizer ConfigMap/released"}
	s.plans(everything, "-n", ns)
	s.plans([]string{"delete ConfigMap/replaced", "delete Secret/below-replaced", "delete ConfigMap/both"}, "-n", ns, "--rule", "replaced-owner")
	s.plans([]string{}, "-n", ns, "--rule", "cross-namespace-owner,owner-cycle")
	s.plans(everything, "-n", ns, "--rule", "replaced-owner", "--rule=missing-owner,blocked-deletion")

	s.gc("collect", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).warns(t, "kubectl gc collect -n "+ns+" --rule replaced-owner --confirm ")
	s.tool().collect("-n", ns, "--rule", "replaced-owner")
	s.goes(replaced, below)
	s.untouched(missing)
	if s.gone(released) {
		t.Error("a deletion of which the rule does not speak was brought to its end")
	}
	s.tool().collect("-n", ns)
	s.goes(missing, released)
}

// -n keeps a pass to its namespace, but what depends on an object from elsewhere
// counts all the same.
func TestCollectInOneNamespaceTouchesNoOther(t *testing.T) {
	s := newScene(t)
	s.custom()
	here, there := s.namespace("here"), s.namespace("there")
	mine, theirs := s.create(configMap(here, "orphan", ownedBy(lost()))), s.create(configMap(there, "orphan", ownedBy(lost())))
	global := s.create(gadget("e2e-orphan", ownedBy(reference(customGroup+"/v1", "Gadget", "gone", "gone"))))
	// A deletion that a dependent elsewhere holds up, with a reference that is good for nothing else.
	blocked := s.create(configMap(here, "blocked"))
	blocker := s.create(secret(there, "blocker", ownedBy(to(blocked, blocking))))
	s.remove(blocked, metav1.DeletePropagationForeground)

	r := s.gc("collect", "-n", here, "--yes").exits(t, 1)
	r.shows(t, "deleted 1", "1 blocked: ConfigMap/blocked")
	s.goes(mine)
	s.untouched(theirs, global, blocker)
	if s.gone(blocked) {
		t.Error("the deletion ended although something blocks it")
	}
	r = s.gc("collect", "-n", here, "--dry-run").exits(t, 0).shows(t, "blocked", "Secret/blocker")
	r.lacks(t, "ConfigMap/orphan", "Gadget/")

	s.tool().collect("-n", there)
	s.goes(theirs, blocker)
	s.untouched(global)
	s.tool().collect("-n", here)
	s.goes(blocked)
	if got := s.tool().plan("-A"); !slices.Contains(got.acts(), "delete Gadget/e2e-orphan") {
		t.Errorf("the whole cluster: %v", got.acts())
	}
}

func TestCollectForAUserWithRightsInOneNamespace(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bobs")
	orphan := s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	global := s.create(configMap(ns, "global", ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone"))))
	waits := s.create(configMap(ns, "waits"))
	s.remove(waits, metav1.DeletePropagationForeground)
	s.grant("bob", ns, []any{"*"}, []any{"*"}, []any{"list", "get", "delete", "patch"})
	bob := s.as("bob")

	r := bob.gc("collect").exits(t, 2).warns(t, "forbidden", "hint: ", "-n")
	if r.Stdout != "" {
		t.Errorf("without an answer there is one: %s", r.Stdout)
	}
	bob.gc("collect", "-n", ns, "--yes", "--strict").exits(t, 3)
	s.untouched(orphan, global)
	// What depends on an object may be anywhere, so no finalizer goes.
	bob.gc("collect", "-n", ns, "--yes").exits(t, 1).
		shows(t, "delete", "ConfigMap/orphan", "blocked", "ConfigMap/waits", "Incomplete scan", "deleted 1", "1 blocked: ConfigMap/waits").
		warns(t, "could not be read", "forbidden")
	s.goes(orphan)
	s.untouched(global)
	if s.gone(waits) {
		t.Error("a finalizer was removed although not everything was seen")
	}
}
