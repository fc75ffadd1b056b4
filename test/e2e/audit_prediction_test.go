package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAuditPredictsTheRealCollector runs the real collector on a random graph and expects that
// it does what the audit predicted.
func TestAuditPredictsTheRealCollector(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 1) {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			s := newScene(t)
			g := newRandom(s, seed, 150, true)
			g.createDoubleReferences(g.namespaces[0])

			var findings []finding
			for _, ns := range g.namespaces {
				findings = append(findings, s.tool().audit("-n", ns).Findings...)
			}
			for _, f := range s.tool().audit().Findings {
				if f.Object.Namespace == "" {
					findings = append(findings, f)
				}
			}
			objects := g.present()
			before, want := g.state(objects), expectedStates(objects, findings)

			s.startRealCollector()
			var got []string
			settled := s.eventually(func() bool {
				got = g.state(objects)
				return slices.Equal(want, got)
			})
			if settled {
				s.awaitSentinel(g.namespaces[0])
				got = g.state(objects)
			}
			for i, o := range objects {
				if want[i] != got[i] {
					t.Errorf("predicted: %s\ndone:      %s\n%s", want[i], got[i], o.history(findings))
				}
			}
			// After the collector has run, audit must find nothing more for it to do.
			for _, f := range s.tool().audit().Findings {
				if (f.Consequence == "delete" || f.Consequence == "unlink") && g.has(f.Object.UID) {
					t.Errorf("the collector is idle, but the audit predicts %s", f)
				}
			}
			gone, unlinked := 0, 0
			for i := range got {
				switch {
				case got[i] == before[i]:
				case strings.HasSuffix(got[i], "goes"):
					gone++
				default:
					unlinked++
				}
			}
			if t.Logf("of %d objects, %d were deleted and %d lost owners", len(objects), gone, unlinked); gone == 0 || unlinked == 0 {
				t.Error("the graph gave the collector too little to do")
			}
		})
	}
}

// createDoubleReferences creates objects that refer twice to one owner.
func (g *random) createDoubleReferences(namespace string) {
	stays := g.create(configMap(namespace, "stays"))
	g.create(secret(namespace, "good-double", ownedBy(referenceTo(stays), referenceTo(stays, blocking))))
	g.create(secret(namespace, "bad-double", ownedBy(referenceTo(stays), referenceTo(stays, named("another")))))
	g.create(secret(namespace, "bad-triple", ownedBy(referenceTo(stays), referenceTo(stays, named("another")), referenceTo(stays, blocking))))
	goes := g.create(configMap(namespace, "goes", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	g.create(secret(namespace, "double-that-goes", ownedBy(referenceTo(goes), referenceTo(goes, blocking))))
}

// history returns what was known about an object before the collector started.
func (o *expectedObject) history(findings []finding) string {
	description := fmt.Sprintf("terminating %t, finalizers %v", o.meta.DeletionTimestamp != nil, o.meta.Finalizers)
	for i, r := range o.meta.OwnerReferences {
		description += fmt.Sprintf("\n%s: %s", refKeyOf(r), o.verdicts[i].verdict)
	}
	for _, f := range findings {
		if f.Object == o.id {
			description += "\n" + f.String()
		}
	}
	return description
}

// present returns the current objects of the graph.
func (g *random) present() []*expectedObject {
	g.Helper()
	f := g.newExpectedAudit()
	return slices.DeleteFunc(f.objects, func(o *expectedObject) bool { return !g.has(o.id.UID) })
}

func (g *random) has(uid string) bool {
	return slices.ContainsFunc(g.created, func(o object) bool { return string(o.GetUID()) == uid })
}

// invalidOwnerRules are the rules about invalid and terminating owners.
var invalidOwnerRules = []string{
	"missing-owner", "replaced-owner", "mismatched-owner", "cross-namespace-owner", "cluster-to-namespaced-owner",
	"unserved-owner-version", "unknown-owner-kind", "unverified-owner", "terminating-owner",
}

// expectedStates returns the states that the findings predict after a run of the collector: it
// deletes the objects that the findings name and every object whose owners are all gone, it
// removes the references that the findings name, and it changes nothing else.
func expectedStates(objects []*expectedObject, findings []finding) []string {
	bad := map[string]map[string]string{} // consequence, by the UIDs of object and owner
	for _, f := range findings {
		if slices.Contains(invalidOwnerRules, f.Rule) {
			if bad[f.Object.UID] == nil {
				bad[f.Object.UID] = map[string]string{}
			}
			bad[f.Object.UID][refKey(*f.Reference)] = f.Consequence
		}
	}
	goes := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, o := range objects {
			if !goes[o.id.UID] && o.willBeDeleted(bad[o.id.UID], goes) {
				goes[o.id.UID], changed = true, true
			}
		}
	}
	var out []string
	for _, o := range objects {
		if o.meta.DeletionTimestamp != nil || goes[o.id.UID] {
			out = append(out, state(o.id, true, nil))
			continue
		}
		lost := o.losses(bad[o.id.UID], goes)
		out = append(out, state(o.id, false, slices.DeleteFunc(slices.Clone(o.meta.OwnerReferences), func(r metav1.OwnerReference) bool {
			return lost[string(r.UID)]
		})))
	}
	return out
}

func refKey(r ownerRef) string { return fmt.Sprintf("%+v", r) }

func refKeyOf(r metav1.OwnerReference) string {
	return refKey(ownerRef{r.APIVersion, r.Kind, r.Name, string(r.UID), isTrue(r.Controller), isTrue(r.BlockOwnerDeletion)})
}

// undecided reports whether one of the references keeps the collector from acting on the object.
func undecided(bad map[string]string) bool {
	for _, consequence := range bad {
		if consequence == "stuck" || consequence == "unknown" {
			return true
		}
	}
	return false
}

// losses returns the UIDs of the owners that the object loses.
func (o *expectedObject) losses(bad map[string]string, goes map[string]bool) map[string]bool {
	out := map[string]bool{}
	if undecided(bad) {
		return out
	}
	for _, r := range o.meta.OwnerReferences {
		if bad[refKeyOf(r)] != "" || goes[string(r.UID)] {
			out[string(r.UID)] = true
		}
	}
	return out
}

// willBeDeleted reports whether all owners of an object are invalid or will be deleted.
func (o *expectedObject) willBeDeleted(bad map[string]string, goes map[string]bool) bool {
	if o.meta.DeletionTimestamp != nil || undecided(bad) || len(o.meta.OwnerReferences) == 0 {
		return false
	}
	return !slices.ContainsFunc(o.meta.OwnerReferences, func(r metav1.OwnerReference) bool {
		return bad[refKeyOf(r)] == "" && !goes[string(r.UID)]
	})
}

// state describes whether an object still exists, and its owners.
func state(i identity, goes bool, owners []metav1.OwnerReference) string {
	if goes {
		return fmt.Sprintf("%s goes", i)
	}
	line := fmt.Sprintf("%s stays", i)
	for _, r := range owners {
		line += fmt.Sprintf(", owned by %s %s/%s", r.APIVersion, r.Kind, r.Name)
	}
	return line
}

// state describes the current state in the same form as expectedStates.
func (g *random) state(objects []*expectedObject) []string {
	g.Helper()
	now := map[string]*expectedObject{}
	for _, o := range g.present() {
		now[o.id.UID] = o
	}
	out := make([]string, len(objects))
	for i, o := range objects {
		live := now[o.id.UID]
		if live == nil || live.meta.DeletionTimestamp != nil {
			out[i] = state(o.id, true, nil)
		} else {
			out[i] = state(o.id, false, live.meta.OwnerReferences)
		}
	}
	return out
}

// startRealCollector runs the real collector until the test ends.
func (s *scene) startRealCollector() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*waitTimeout)
	defer cancel()
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
		defer cancel()
		if err := s.controlPlane.SetCollector(ctx, testcluster.Absent); err != nil {
			s.Error(err)
		}
	})
	s.must(s.controlPlane.SetCollector(ctx, testcluster.On))
}

// eventually polls until the condition is true, and reports whether it ever was.
func (s *scene) eventually(done func() bool) bool {
	s.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * waitTimeout); time.Now().Before(deadline); <-tick.C {
		if done() {
			return true
		}
	}
	return false
}

// awaitSentinel creates an object that is garbage and waits until the collector has deleted it.
// By then the collector has processed everything created before.
func (s *scene) awaitSentinel(namespace string) {
	s.Helper()
	last := s.create(configMap(namespace, "sentinel", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	s.await("the sentinel to be collected", func(context.Context) (bool, error) { return s.gone(last), nil })
}
