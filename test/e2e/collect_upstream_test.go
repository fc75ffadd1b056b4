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

// The integration tests of the real collector (test/integration/garbagecollector),
// with the program in its place. Each case deletes something, as a user would,
// and says what there is when the program has collected.

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
)

// controller is a ReplicationController: what depends on it is orphaned unless a
// deletion says otherwise.
func controller(ns, name string, more ...func(object)) object {
	return of("v1", "ReplicationController", ns, name, after(with("spec", map[string]any{
		"replicas": int64(0), "selector": map[string]any{"app": name}, "template": template(name),
	}), more)...)
}

// became says in a line what has become of each object.
func (s *scene) became(objects ...object) []string {
	s.Helper()
	out := []string{}
	for _, o := range objects {
		line := o.GetName()
		live, err := s.at(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
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

func TestCollectDoesWhatUpstreamTestsOfTheCollector(t *testing.T) {
	const finalizer = "example.com/held"
	for _, c := range []struct {
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
					pods = append(pods, s.create(pod(ns, fmt.Sprintf("pod-%d", i), ownedBy(to(rc)))))
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
				p := s.create(pod(ns, "pod", ownedBy(to(a, blocking), to(b))))
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
				one := s.create(pod(ns, "unset", ownedBy(to(rc)), heldBy(finalizer)))
				two := s.create(pod(ns, "false", ownedBy(to(rc, func(r *metav1.OwnerReference) { r.BlockOwnerDeletion = &no })), heldBy(finalizer)))
				s.remove(rc, foreground)
				return []object{rc, one, two}
			},
			[]string{"rc is gone", "unset is terminating, held by " + finalizer + ", owned by rc", "false is terminating, held by " + finalizer + ", owned by rc"},
		},
		{
			"I9 a held pod loses the collector's finalizer, and again when it is deleted once more",
			func(s *scene, ns string) []object {
				p := s.create(pod(ns, "pod", heldBy(finalizer)))
				for range 2 {
					s.remove(p, foreground)
					s.tool().collect("-n", ns, "--no-backup")
					if diff := cmp.Diff([]string{"pod is terminating, held by " + finalizer}, s.became(p)); diff != "" {
						s.Errorf("after a collection (-want +got)\n%s", diff)
					}
				}
				s.release(p)
				return []object{p}
			},
			[]string{"pod is gone"},
		},
		{
			"I10 a held pod that blocks keeps its owner",
			func(s *scene, ns string) []object {
				rc := s.create(controller(ns, "rc"))
				p := s.create(pod(ns, "pod", ownedBy(to(rc, blocking)), heldBy(finalizer)))
				s.remove(rc, foreground)
				return []object{rc, p}
			},
			[]string{"rc is terminating, held by foregroundDeletion", "pod is terminating, held by " + finalizer + ", owned by rc"},
		},
		{
			"I11 a custom resource goes in the foreground with the one that it owns",
			func(s *scene, ns string) []object {
				owner := s.create(widget(ns, "owner"))
				dependent := s.create(widget(ns, "dependent", ownedBy(to(owner))))
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
					custom, s.create(configMap(ns, "of-custom", ownedBy(to(custom)))),
					builtin, s.create(widget(ns, "of-builtin", ownedBy(to(builtin)))),
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
					s.create(configMap(ns, "existing", ownedBy(to(there)))),
					s.create(configMap(ns, "missing", ownedBy(reference("scheduling.k8s.io/v1", "PriorityClass", "e2e-gone", "gone")))),
					s.create(configMap(ns, "unknown", ownedBy(reference("none.example.com/v1", "Nothing", "nothing", "nothing")))),
				}
			},
			[]string{"e2e-i15", "existing, owned by e2e-i15", "missing is gone", "unknown, owned by nothing"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.custom()
			ns := s.namespace("upstream")
			objects := c.act(s, ns)
			s.tool().collect("-n", ns, "--no-backup")
			if diff := cmp.Diff(c.want, s.became(objects...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := s.tool().plan("-n", ns); len(again.Steps) > 0 {
				t.Errorf("there is more to do: %+v", again.Steps)
			}
		})
	}
}

// release takes all finalizers off.
func (s *scene) release(o object) {
	s.Helper()
	_, err := s.at(o).Patch(s.Context(), o.GetName(), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	s.must(err)
}

func TestCollectAmongHundredsOfBadReferencesToOneUID(t *testing.T) {
	t.Run("I1 one UID in hundreds of bad references", func(t *testing.T) { newScene(t).badReferences() })
	t.Run("I2 the same without a watch cache", func(t *testing.T) {
		newScene(t)
		p := testcluster.New(t, testcluster.Options{Collector: testcluster.Absent, APIServerFlags: []string{"watch-cache=false"}})
		w, err := newEnvironment(p, shared.bin)
		if err != nil {
			t.Fatal(err)
		}
		(&scene{T: t, environment: w}).badReferences()
	})
}

func (s *scene) badReferences() {
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
		stay = append(stay, s.create(secret(b, fmt.Sprintf("good-%d", i), ownedBy(to(parent)))))
	}
	for i := range 5 {
		name := fmt.Sprintf("undecidable-%d", i)
		stay = append(stay, s.create(configMap(a, name, ownedBy(append(unknown, bad)...))), s.create(secret(a, name, ownedBy(append(unknown, bad)...))))
		leave = append(leave, s.create(secret(a, fmt.Sprintf("bad-%d", i), ownedBy(bad))))
	}
	before := s.became(append(stay, parent)...)
	s.tool().collect("--no-backup")
	s.goes(leave...)
	if diff := cmp.Diff(before, s.became(append(stay, parent)...)); diff != "" {
		s.Errorf("what stays was changed (-want +got)\n%s", diff)
	}
	late := s.create(secret(a, "late", ownedBy(bad)))
	s.tool().collect("--no-backup")
	s.goes(late)
}

func TestCollectFinishesWhatTheAPIServerLeavesOfDeletions(t *testing.T) {
	no, yes, orphan := false, true, metav1.DeletePropagationOrphan
	for _, c := range []struct {
		name       string
		finalizers []string
		options    metav1.DeleteOptions
		podsGo     bool
	}{
		{name: "I5 nothing is said, and the kind's default is to orphan"},
		{name: "I5 a finalizer says to orphan, the deletion says nothing", finalizers: []string{metav1.FinalizerOrphanDependents}},
		{
			name: "I5 a finalizer says to orphan, the deletion says not to", finalizers: []string{metav1.FinalizerOrphanDependents},
			//lint:ignore SA1019 it is what is tested
			options: metav1.DeleteOptions{OrphanDependents: &no}, podsGo: true,
		},
		//lint:ignore SA1019 it is what is tested
		{name: "I5 the deletion says to orphan in the old way", options: metav1.DeleteOptions{OrphanDependents: &yes}},
		{name: "I5 the deletion says to orphan", options: metav1.DeleteOptions{PropagationPolicy: &orphan}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("policies")
			var owners, pods []object
			for i := range 10 {
				rc := s.create(controller(ns, fmt.Sprintf("rc-%d", i), heldBy(c.finalizers...)))
				owners = append(owners, rc)
				for k := range 3 {
					pods = append(pods, s.create(pod(ns, fmt.Sprintf("pod-%d-%d", i, k), ownedBy(to(rc)))))
				}
			}
			for _, rc := range owners {
				s.must(s.at(rc).Delete(s.Context(), rc.GetName(), c.options))
			}
			s.tool().collect("-n", ns, "--no-backup")
			s.goes(owners...)
			for i, line := range s.became(pods...) {
				want := pods[i].GetName()
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

// I13: the collector hears of the end of every instance, and so knows that it is
// gone even after its kind is. One that comes later cannot tell what that kind
// was, and lets be what an instance has owned until the kind is known again.
func TestCollectWhenADefinitionGoes(t *testing.T) {
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
		instance := s.create(of(group+"/v1", "Thing", ns, "instance"))
		return crd, s.create(configMap(ns, "owned", ownedBy(to(instance))))
	}
	t.Run("I13 a definition without an owner takes its instances along, and what they own", func(t *testing.T) {
		s := newScene(t)
		crd, owned := begin(s, ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone")))
		got := s.tool().collect("--no-backup")
		for _, step := range got.Steps {
			if step.Status != "done" {
				t.Errorf("%s of %s is %s: %s", step.Action, step.Object.identity, step.Status, step.Message)
			}
		}
		s.goes(crd, owned)
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		s.awaitEnd(ctx, crd)
	})
	t.Run("I13 what an instance owned goes when a definition of that name is there anew", func(t *testing.T) {
		s := newScene(t)
		crd, owned := begin(s)
		s.remove(crd, background)
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		s.await("the end of the definition", func(context.Context) (bool, error) { return s.gone(crd), nil })
		s.awaitEnd(ctx, crd)
		s.tool().collect("--no-backup")
		if diff := cmp.Diff([]string{"owned, owned by instance"}, s.became(owned)); diff != "" {
			t.Errorf("while the kind is unknown (-want +got)\n%s", diff)
		}
		s.define(definition(group, "Thing", "Namespaced", version("v1", true)))
		s.tool().collect("--no-backup")
		s.goes(owned)
	})
}

func TestCollectBesideATypeThatCannotBeRead(t *testing.T) {
	t.Run("I14 a conversion webhook that fails does not stop the rest", func(t *testing.T) {
		const group = "i14.example.com"
		s := newScene(t)
		ns := s.namespace("webhook")
		s.deadWebhook(group, "Ruin")
		s.create(of(group+"/v1", "Ruin", ns, "ruin"))
		rc := s.create(controller(ns, "rc"))
		p := s.create(pod(ns, "pod", ownedBy(to(rc))))
		s.remove(rc, background)
		got := s.tool().collect("--no-backup")
		s.goes(rc, p)
		if got.Complete || slices.ContainsFunc(got.Steps, func(step collectedStep) bool { return strings.Contains(step.Object.APIVersion, group) }) {
			t.Errorf("it claims to know of everything: %+v", got)
		}
	})
}
