package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// These are the integration tests of the real collector (test/integration/garbagecollector) with
// kubectl gc collect in its place. Each case deletes something, as a user would; collect runs, and
// the objects that are left are checked.

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
)

// controller returns a ReplicationController. The API server orphans its dependents by default.
func controller(ns, name string, more ...func(object)) object {
	return newObject("v1", "ReplicationController", ns, name, prepend(withField("spec", map[string]any{
		"replicas": int64(0), "selector": map[string]any{"app": name}, "template": template(name),
	}), more)...)
}

// states describes the current state of each object on one line.
func (s *scene) states(objects ...object) []string {
	s.Helper()
	out := []string{}
	for _, o := range objects {
		line := o.GetName()
		live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && live.GetUID() != o.GetUID():
			line += " is gone"
		case err != nil:
			s.Fatal(err)
		case live.GetDeletionTimestamp() != nil:
			line += " is terminating"
		}
		if err == nil && live.GetUID() == o.GetUID() {
			for _, f := range live.GetFinalizers() {
				line += ", held by " + f
			}
			for _, r := range live.GetOwnerReferences() {
				line += ", owned by " + r.Name
			}
		}
		out = append(out, line)
	}
	return out
}

// One run collects what all of them leave.
func TestCollectPassesUpstreamIntegrationTests(t *testing.T) {
	const finalizer = "example.com/held"
	s := newScene(t)
	s.defineTestKinds()
	cases := []struct {
		name string
		act  func(s *scene, ns string) []object
		want []string
	}{
		{
			"I4 a pod whose owner never existed goes",
			func(s *scene, ns string) []object {
				return []object{s.create(pod(ns, "pod", ownedBy(reference("v1", "ReplicationController", "never", "never"))))}
			},
			[]string{"pod is gone"},
		},
		{
			"I6 an owner is deleted and its pods are orphaned",
			func(s *scene, ns string) []object {
				rc := s.create(controller(ns, "rc"))
				pods := []object{rc}
				for i := range 3 {
					pods = append(pods, s.create(pod(ns, fmt.Sprintf("pod-%d", i), ownedBy(referenceTo(rc)))))
				}
				s.remove(rc, metav1.DeletePropagationOrphan)
				return pods
			},
			[]string{"rc is gone", "pod-0", "pod-1", "pod-2"},
		},
		{
			"I7 one of two owners of a blocking pod is deleted in the foreground",
			func(s *scene, ns string) []object {
				a, b := s.create(controller(ns, "a")), s.create(controller(ns, "b"))
				p := s.create(pod(ns, "pod", ownedBy(referenceTo(a, blocking), referenceTo(b))))
				s.remove(a, foreground)
				return []object{a, b, p}
			},
			[]string{"a is gone", "b", "pod, owned by b"},
		},
		{
			"I8 held pods that do not block let their owner go",
			func(s *scene, ns string) []object {
				rc := s.create(controller(ns, "rc"))
				no := false
				one := s.create(pod(ns, "unset", ownedBy(referenceTo(rc)), heldBy(finalizer)))
				two := s.create(pod(ns, "false", ownedBy(referenceTo(rc, func(r *metav1.OwnerReference) { r.BlockOwnerDeletion = &no })), heldBy(finalizer)))
				s.remove(rc, foreground)
				return []object{rc, one, two}
			},
			[]string{"rc is gone", "unset is terminating, held by " + finalizer + ", owned by rc", "false is terminating, held by " + finalizer + ", owned by rc"},
		},
		{
			"I10 a held pod that blocks keeps its owner",
			func(s *scene, ns string) []object {
				rc := s.create(controller(ns, "rc"))
				p := s.create(pod(ns, "pod", ownedBy(referenceTo(rc, blocking)), heldBy(finalizer)))
				s.remove(rc, foreground)
				return []object{rc, p}
			},
			[]string{"rc is terminating, held by foregroundDeletion", "pod is terminating, held by " + finalizer + ", owned by rc"},
		},
		{
			"I11 a custom resource goes in the foreground with the one that it owns",
			func(s *scene, ns string) []object {
				owner := s.create(widget(ns, "owner"))
				dependent := s.create(widget(ns, "dependent", ownedBy(referenceTo(owner))))
				s.remove(owner, foreground)
				return []object{owner, dependent}
			},
			[]string{"owner is gone", "dependent is gone"},
		},
		{
			"I12 custom and builtin objects own each other's kind",
			func(s *scene, ns string) []object {
				custom, builtin := s.create(widget(ns, "custom")), s.create(configMap(ns, "builtin"))
				owned := []object{
					custom, s.create(configMap(ns, "of-custom", ownedBy(referenceTo(custom)))),
					builtin, s.create(widget(ns, "of-builtin", ownedBy(referenceTo(builtin)))),
				}
				s.remove(custom, foreground)
				s.remove(builtin, foreground)
				return owned
			},
			[]string{"custom is gone", "of-custom is gone", "builtin is gone", "of-builtin is gone"},
		},
		{
			"I15 a cluster-scoped owner exists, is missing, is of unknown kind",
			func(s *scene, ns string) []object {
				there := s.create(priorityClass("e2e-i15"))
				return []object{
					there,
					s.create(configMap(ns, "existing", ownedBy(referenceTo(there)))),
					s.create(configMap(ns, "missing", ownedBy(reference("scheduling.k8s.io/v1", "PriorityClass", "e2e-gone", "gone")))),
					s.create(configMap(ns, "unknown", ownedBy(reference("none.example.com/v1", "Nothing", "nothing", "nothing")))),
				}
			},
			[]string{"e2e-i15", "existing, owned by e2e-i15", "missing is gone", "unknown, owned by nothing"},
		},
	}
	made := make([][]object, len(cases))
	for i, c := range cases {
		made[i] = c.act(s, s.namespace("upstream"))
	}
	s.tool().collect("--no-backup")
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := s.forSubtest(t)
			if diff := cmp.Diff(c.want, s.states(made[i]...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if again := s.tool().plan(); len(again.Steps) > 0 {
		t.Errorf("there is more to do: %+v", again.Steps)
	}
	t.Run("I9 a held pod loses the collector's finalizer, and again when it is deleted once more", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("upstream")
		p := s.create(pod(ns, "pod", heldBy(finalizer)))
		for range 2 {
			s.remove(p, foreground)
			s.tool().collect("-n", ns, "--no-backup")
			if diff := cmp.Diff([]string{"pod is terminating, held by " + finalizer}, s.states(p)); diff != "" {
				t.Errorf("after a collection (-want +got)\n%s", diff)
			}
		}
	})
}

func TestCollectAmongHundredsOfBadReferencesToOneUID(t *testing.T) {
	t.Parallel()
	t.Run("I1 one UID in hundreds of bad references", func(t *testing.T) { newScene(t).testHundredsOfBadReferences() })
	t.Run("I2 the same without a watch cache", func(t *testing.T) {
		newSceneOf(t, testcluster.Options{Collector: testcluster.Absent, APIServerFlags: []string{"watch-cache=false"}}).testHundredsOfBadReferences()
	})
}

func (s *scene) testHundredsOfBadReferences() {
	s.Helper()
	a, b := s.namespace("bad"), s.namespace("good")
	parent := s.create(configMap(b, "parent"))
	bad := reference("v1", "Pod", "parent", parent.GetUID())
	unknown := make([]metav1.OwnerReference, 25)
	for i := range unknown {
		unknown[i] = reference(fmt.Sprintf("example.com/v%d", i+1), "Unknown", "unknown", parent.GetUID())
	}
	var stay, leave []object
	for i := range 10 {
		stay = append(stay, s.create(secret(b, fmt.Sprintf("good-%d", i), ownedBy(referenceTo(parent)))))
	}
	for i := range 5 {
		name := fmt.Sprintf("undecidable-%d", i)
		stay = append(stay, s.create(configMap(a, name, ownedBy(append(unknown, bad)...))), s.create(secret(a, name, ownedBy(append(unknown, bad)...))))
		leave = append(leave, s.create(secret(a, fmt.Sprintf("bad-%d", i), ownedBy(bad))))
	}
	before := s.states(append(stay, parent)...)
	s.tool().collect("--no-backup")
	s.requireGone(leave...)
	if diff := cmp.Diff(before, s.states(append(stay, parent)...)); diff != "" {
		s.Errorf("what stays was changed (-want +got)\n%s", diff)
	}
	late := s.create(secret(a, "late", ownedBy(bad)))
	s.tool().collect("--no-backup")
	s.requireGone(late)
}

func TestCollectCompletesDeletions(t *testing.T) {
	s := newScene(t)
	no, yes, orphan := false, true, metav1.DeletePropagationOrphan
	cases := []struct {
		name       string
		finalizers []string
		options    metav1.DeleteOptions
		podsGo     bool
	}{
		{name: "I5 nothing is said, and the kind's default is to orphan"},
		{name: "I5 the object has an orphan finalizer, the deletion has no policy", finalizers: []string{metav1.FinalizerOrphanDependents}},
		{
			name: "I5 a finalizer says to orphan, the deletion says not to", finalizers: []string{metav1.FinalizerOrphanDependents},
			//lint:ignore SA1019 it is what is tested
			options: metav1.DeleteOptions{OrphanDependents: &no}, podsGo: true,
		},
		//lint:ignore SA1019 it is what is tested
		{name: "I5 the deletion orphans with the deprecated field", options: metav1.DeleteOptions{OrphanDependents: &yes}},
		{name: "I5 the deletion orphans", options: metav1.DeleteOptions{PropagationPolicy: &orphan}},
	}
	owners, pods := make([][]object, len(cases)), make([][]object, len(cases))
	for i, c := range cases {
		ns := s.namespace("policies")
		for k := range 10 {
			rc := s.create(controller(ns, fmt.Sprintf("rc-%d", k), heldBy(c.finalizers...)))
			owners[i] = append(owners[i], rc)
			pods[i] = append(pods[i], s.create(pod(ns, fmt.Sprintf("pod-%d", k), ownedBy(referenceTo(rc)))))
		}
		for _, rc := range owners[i] {
			s.must(s.client(rc).Delete(s.Context(), rc.GetName(), c.options))
		}
	}
	s.tool().collect("--no-backup")
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := s.forSubtest(t)
			s.requireGone(owners[i]...)
			for k, line := range s.states(pods[i]...) {
				want := pods[i][k].GetName()
				if c.podsGo {
					want += " is gone"
				}
				if line != want {
					t.Errorf("%s, want %s", line, want)
				}
			}
		})
	}
}

// I13: the real collector watches the deletion of every custom resource, and therefore knows that
// the owner is gone even after its CRD is deleted. A collector that starts later cannot map the
// owner's kind, and keeps its dependents until the kind is known again.
func TestCollectAfterCRDIsDeleted(t *testing.T) {
	t.Parallel()
	const group = "i13.example.com"
	begin := func(s *scene, more ...func(object)) (crd, owned object) {
		s.Helper()
		crd = definition(group, "Thing", "Namespaced", version("v1", true))
		for _, change := range more {
			change(crd)
		}
		s.define(crd)
		crd = s.created[len(s.created)-1]
		ns := s.namespace("definitions")
		instance := s.create(newObject(group+"/v1", "Thing", ns, "instance"))
		return crd, s.create(configMap(ns, "owned", ownedBy(referenceTo(instance))))
	}
	t.Run("I13 a deleted CRD deletes its custom resources, and collect their dependents", func(t *testing.T) {
		s := newScene(t)
		crd, owned := begin(s, ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone")))
		got := s.tool().collect("--no-backup")
		for _, step := range got.Steps {
			if step.Status != "done" {
				t.Errorf("%s of %s is %s: %s", step.Action, step.Object.identity, step.Status, step.Message)
			}
		}
		s.requireGone(crd, owned)
		s.awaitCRDGone(crd)
	})
	t.Run("I13 dependents of a custom resource are deleted when its CRD exists again", func(t *testing.T) {
		s := newScene(t)
		crd, owned := begin(s)
		s.remove(crd, background)
		s.await("the end of the definition", func(context.Context) (bool, error) { return s.gone(crd), nil })
		s.awaitCRDGone(crd)
		s.tool().collect("--no-backup")
		if diff := cmp.Diff([]string{"owned, owned by instance"}, s.states(owned)); diff != "" {
			t.Errorf("while the kind is unknown (-want +got)\n%s", diff)
		}
		s.define(definition(group, "Thing", "Namespaced", version("v1", true)))
		s.tool().collect("--no-backup")
		s.requireGone(owned)
	})
}

func TestCollectWithUnreadableType(t *testing.T) {
	t.Parallel()
	t.Run("I14 a conversion webhook that fails does not stop the rest", func(t *testing.T) {
		const group = "i14.example.com"
		s := newScene(t)
		ns := s.namespace("webhook")
		s.brokenConversionWebhook(group, "Ruin")
		s.create(newObject(group+"/v1", "Ruin", ns, "ruin"))
		rc := s.create(controller(ns, "rc"))
		p := s.create(pod(ns, "pod", ownedBy(referenceTo(rc))))
		s.remove(rc, background)
		got := s.tool().collect("--no-backup")
		s.requireGone(rc, p)
		if got.Complete || slices.ContainsFunc(got.Steps, func(step collectedStep) bool { return strings.Contains(step.Object.APIVersion, group) }) {
			t.Errorf("it claims to know of everything: %+v", got)
		}
	})
}
