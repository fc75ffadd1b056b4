package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// copyResult is what happened to one copy of a graph.
type copyResult struct {
	before, after graphState      // around the run of the command
	final         graphState      // after the runs that complete it
	backedUp      map[string]bool // the roles of the objects in the backups of the command
	result        result
	inTime        bool // within the time limit
}

// violations returns what a run under faults did wrong, one line each, by comparison with a run
// without faults and with the graph as it was built.
func (o *faultScenario) violations(v, baseline *copyResult) []string {
	o.Helper()
	out := slices.Concat(o.wrongStates(v, baseline), o.wrongBehavior(v))
	if !v.inTime {
		return append(out, "it did not end in time")
	}
	if v.result.Code != 0 {
		return out
	}
	if baseline.result.Code != 0 {
		out = append(out, fmt.Sprintf("it exits with 0, and without faults with %d", baseline.result.Code))
	}
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		if got, want := o.finalCondition(v.after, role, v.before[role]), o.finalCondition(baseline.final, role, v.before[role]); got != want {
			out = append(out, fmt.Sprintf("it exits with 0, but %s %s is %s, and without faults %s", role, o.describe(role), got, want))
		}
	}
	return out
}

// wrongStates compares each object under faults with the one without faults.
func (o *faultScenario) wrongStates(v, baseline *copyResult) (out []string) {
	o.Helper()
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		was, is := v.before[role], v.after[role]
		wrong := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("%s %s was %s, is %s: ", role, o.describe(role), was, is)+fmt.Sprintf(format, args...))
		}
		if wasDeletedNow(was, is) {
			if owner := o.reasonToStay(role, v.final); owner != "" {
				wrong("deleted, and has %s", owner)
			}
			if !wasDeletedNow(was, baseline.after[role]) {
				wrong("deleted, and without faults %s", baseline.after[role])
			}
		}
		if o.mustBackUp(was, is) && !v.backedUp[role] {
			wrong("in no backup")
		}
		if got, want := o.finalCondition(v.final, role, was), o.finalCondition(baseline.final, role, was); got != want {
			wrong("finally %s, and without faults %s", got, want)
		}
		for _, finalizer := range was.Finalizers {
			if line := o.unprovenRemoval(role, finalizer, v, baseline); line != "" {
				wrong("%s", line)
			}
		}
	}
	return out
}

// finalCondition returns the final state of an object with its owners sorted. An object that
// waits only for its dependents counts as gone: a run that cannot read the dependents deletes it
// at once.
func (o *faultScenario) finalCondition(e graphState, role string, before partState) string {
	c := e[role]
	if goneOrWaiting(c) {
		return "gone"
	}
	// If another finalizer holds the object, it makes no difference whether it also waits for its
	// dependents, provided that its deletion began during the run, or that no remaining object
	// blocks it.
	if c.Terminating && (!before.Terminating || !e.blocked(role)) {
		c.Finalizers = slices.DeleteFunc(slices.Clone(c.Finalizers), func(f string) bool { return f == metav1.FinalizerDeleteDependents })
	}
	c.Owners = slices.SortedFunc(slices.Values(c.Owners), func(a, b roleRef) int { return strings.Compare(a.line, b.line) })
	if c.Terminating { // the collector no longer judges it, so only the owners that it may block matter
		n := o.partNumber(role)
		c.Owners = slices.DeleteFunc(c.Owners, func(r roleRef) bool {
			owner, known := e[r.uid]
			good := func(c partRef) bool { return roleOf(c.uid) == r.uid && o.solid(n, c) }
			return !known || goneOrWaiting(owner) || !slices.ContainsFunc(o.parts[n].refs, good)
		})
	}
	return c.String()
}

// goneOrWaiting reports whether an object is gone, or waits only for its dependents.
func goneOrWaiting(c partState) bool {
	foreign := slices.ContainsFunc(c.Finalizers, func(f string) bool { return f != metav1.FinalizerDeleteDependents })
	return c.Gone || c.Terminating && len(c.Finalizers) > 0 && !foreign
}

// blocked reports whether a remaining object blocks the deletion of this one.
func (e graphState) blocked(role string) bool {
	for _, c := range e {
		if !goneOrWaiting(c) && slices.ContainsFunc(c.Owners, func(o roleRef) bool { return o.uid == role && o.blocks }) {
			return true
		}
	}
	return false
}

// reasonToStay returns why an object must not be deleted: an owner that still exists at the end,
// or an owner that cannot be judged. It is empty if nothing keeps the object.
func (o *faultScenario) reasonToStay(role string, end graphState) string {
	n := o.partNumber(role)
	if strings.HasSuffix(role, "'") || o.isRequested(role) {
		return ""
	}
	for _, c := range o.parts[n].refs {
		if !o.served(c) {
			return fmt.Sprintf("an owner of a kind that is not known, %s %s", c.apiVersion, c.kind)
		}
		if owner := end[roleOf(c.uid)]; o.solid(n, c) && !owner.Gone && !owner.Terminating {
			return fmt.Sprintf("an owner that is there, %s %s", roleOf(c.uid), owner)
		}
	}
	return ""
}

// isRequested reports whether the command line names an object.
func (o *faultScenario) isRequested(role string) bool {
	name := "/" + o.name(o.partNumber(role))
	return slices.ContainsFunc(o.args, func(arg string) bool { return strings.HasSuffix(arg, name) })
}

// unprovenRemoval returns why a finalizer must not have been removed. It is empty if the
// finalizer is still there, or if its removal was correct.
func (o *faultScenario) unprovenRemoval(role, finalizer string, v, baseline *copyResult) string {
	was, is, kept := v.before[role], v.after[role], baseline.final[role]
	switch {
	case was.Gone || !is.Gone && slices.Contains(is.Finalizers, finalizer):
		return ""
	case finalizer != metav1.FinalizerDeleteDependents && finalizer != metav1.FinalizerOrphanDependents:
		return finalizer + " belongs to another controller"
	case was.Terminating && slices.Contains(kept.Finalizers, finalizer):
		return finalizer + " stays without faults"
	case finalizer == metav1.FinalizerDeleteDependents && !was.Terminating:
		return "" // the object is not terminating, so it does not wait for its dependents
	case !was.Terminating && o.isRequested(role) && !slices.Contains(o.args, "--cascade=orphan"):
		return "" // a DELETE with that policy removes the orphan finalizer (docs/gc-semantics.md#finalizers-after-a-delete)
	}
	for _, other := range slices.Sorted(maps.Keys(v.after)) {
		for _, ref := range v.after[other].Owners {
			if ref.uid != role || finalizer == metav1.FinalizerDeleteDependents && !ref.blocks || v.after[other].Gone {
				continue
			}
			same := slices.Contains(baseline.final[other].Owners, ref) || baseline.after[role].Gone && slices.Contains(baseline.after[other].Owners, ref)
			if !same {
				return fmt.Sprintf("%s is removed, but %s is still %s", finalizer, other, v.after[other])
			}
		}
	}
	return ""
}

// wrongBehavior returns what must not happen under any faults: a crash, an undocumented exit code, a
// change with exit code 2, or the token in the output or a backup.
func (o *faultScenario) wrongBehavior(v *copyResult) (out []string) {
	o.Helper()
	for _, sign := range []string{"panic:", "goroutine ", "fatal error:", "DATA RACE"} {
		if v.inTime && strings.Contains(v.result.Stderr, sign) {
			out = append(out, fmt.Sprintf("standard error holds %q", sign))
		}
	}
	if v.inTime && (v.result.Code < 0 || v.result.Code > 2) {
		out = append(out, fmt.Sprintf("it exits with %d", v.result.Code))
	}
	for role, was := range v.before {
		if v.result.Code == 2 && was.String() != v.after[role].String() {
			out = append(out, fmt.Sprintf("it exits with 2, but %s is %s, and was %s", role, v.after[role], was))
		}
	}
	if strings.Contains(v.result.Stdout+v.result.Stderr, canary) {
		out = append(out, "the token is in its output")
	}
	err := filepath.WalkDir(o.backups, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), canary) {
			out = append(out, "the token is in "+path)
		}
		return err
	})
	o.must(err)
	return out
}

// backedUp returns the roles of the objects in the backups, and requires that the backups are
// complete.
func (o *faultScenario) backedUp() map[string]bool {
	o.Helper()
	out := map[string]bool{}
	for _, folder := range o.backupFolders() {
		b, err := backup.Open(folder)
		if err != nil {
			files, _ := filepath.Glob(filepath.Join(folder, "*")) // the pattern is well-formed, so there is no error
			o.Errorf("%v: it holds %q", err, files)
			continue
		}
		for _, e := range b.Entries {
			manifest, err := b.Manifest(e)
			var stored metav1.PartialObjectMetadata
			if err == nil {
				err = json.Unmarshal(manifest, &stored)
			}
			if err != nil {
				o.Errorf("%s in %s: %v", e.Object, folder, err)
				continue
			}
			role, ours := o.members[e.Object.UID]
			if !ours {
				continue
			}
			if built := o.objects[o.partNumber(role)]; stored.Kind != built.GetKind() || stored.Name != built.GetName() || stored.Namespace != built.GetNamespace() {
				o.Logf("%s in %s is another object, %s/%s in namespace %q", e.Object, folder, stored.Kind, stored.Name, stored.Namespace)
				continue
			}
			out[role] = true
		}
		o.must(b.Close())
	}
	return out
}

// currentState returns the state of the graph. An object that a restoration created has the role
// of the part with its name.
func (o *faultScenario) currentState() graphState {
	o.Helper()
	listed := map[schema.GroupVersionResource]bool{}
	for n := range o.parts {
		m, err := o.mapping(o.objects[n])
		o.must(err)
		if o.command != "restore" || listed[m.Resource] {
			continue
		}
		listed[m.Resource] = true
		items, err := o.metadata.Resource(m.Resource).List(o.Context(), metav1.ListOptions{})
		o.must(err)
		for _, item := range items.Items {
			if role, ours := o.roles[item.Name]; ours && o.members[item.UID] == "" {
				o.adopt(role, item.UID)
			}
		}
	}
	return o.state()
}

func (o *faultScenario) adopt(role string, uid types.UID) {
	for old, other := range o.members {
		if other == role {
			delete(o.members, old)
			o.roles[string(old)] = role + ", as it was before,"
		}
	}
	o.members[uid], o.roles[string(uid)] = role, role
}

// collect deletes #0 and its dependent #1, as in each of these runs without faults.
func TestViolationsUnderFaultsAreFound(t *testing.T) {
	const owner, dependent = "#0", "#1"
	owned := partState{Owners: []roleRef{{line: "v1/ConfigMap #0", uid: owner}}}
	held := func(by string) partState { return partState{Terminating: true, Finalizers: []string{by}} }
	for name, test := range map[string]struct {
		change func(v, baseline *copyResult)
		want   string // in one of the violations; empty: there is none
	}{
		"the same end":                       {func(_, _ *copyResult) {}, ""},
		"a run that leaves it to the next":   {func(v, _ *copyResult) { v.after, v.result.Code = v.before, 1 }, ""},
		"a dependent of an owner that stays": {func(v, _ *copyResult) { v.after[owner], v.final[owner] = partState{}, partState{} }, "has an owner that is there"},
		"a deletion that faults caused":      {func(_, baseline *copyResult) { baseline.after[dependent] = owned }, "deleted, and without faults"},
		"a deletion without backup":          {func(v, _ *copyResult) { delete(v.backedUp, owner) }, "in no backup"},
		"another end":                        {func(v, _ *copyResult) { v.final[dependent] = owned }, "finally there"},
		"an orphan finalizer removed before a reference": {func(v, baseline *copyResult) {
			v.before[owner], v.after[dependent] = held(metav1.FinalizerOrphanDependents), owned
			baseline.final[dependent] = partState{}
		}, "orphan is removed, but #1 is still"},
		"a foreground finalizer removed before a dependent that does not block": {func(v, _ *copyResult) {
			v.before[owner], v.after[dependent], v.result.Code = held(metav1.FinalizerDeleteDependents), owned, 1
		}, ""},
		"a finalizer that stays without faults": {func(v, baseline *copyResult) {
			v.before[owner], baseline.final[owner] = held(metav1.FinalizerDeleteDependents), held(metav1.FinalizerDeleteDependents)
		}, "stays without faults"},
		"another controller's finalizer":  {func(v, _ *copyResult) { v.before[owner] = held(hold) }, "belongs to another controller"},
		"exit code 0 with something left": {func(v, _ *copyResult) { v.after[dependent] = owned }, "it exits with 0, but #1"},
		"exit code 0, and 1 otherwise":    {func(_, baseline *copyResult) { baseline.result.Code = 1 }, "and without faults with 1"},
		"exit code 2 with a change":       {func(v, _ *copyResult) { v.result.Code = 2 }, "it exits with 2, but"},
		"an exit code of its own":         {func(v, _ *copyResult) { v.result.Code = 3 }, "it exits with 3"},
		"a panic":                         {func(v, _ *copyResult) { v.result.Stderr = "panic: nil" }, "standard error holds"},
		"the token":                       {func(v, _ *copyResult) { v.result.Stdout = canary }, "the token is in its output"},
		"no end":                          {func(v, _ *copyResult) { v.inTime = false }, "it did not end in time"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &faultScenario{
				builtGraph: &builtGraph{scene: &scene{T: t}, objects: make([]object, 2), blueprint: &blueprint{parts: []part{
					{apiVersion: "v1", kind: "ConfigMap"}, {apiVersion: "v1", kind: "ConfigMap", refs: []partRef{{apiVersion: "v1", kind: "ConfigMap"}}},
				}}},
				faultCommand: faultCommand{mustBackUp: wasDeletedNow}, backups: t.TempDir(), served: func(partRef) bool { return true },
			}
			gone := func() graphState { return graphState{owner: {Gone: true}, dependent: {Gone: true}} }
			v := &copyResult{before: graphState{owner: {}, dependent: owned}, after: gone(), final: gone(), backedUp: map[string]bool{owner: true, dependent: true}, inTime: true}
			baseline := &copyResult{after: gone(), final: gone()}
			test.change(v, baseline)
			got := strings.Join(o.violations(v, baseline), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("%s, want %q", got, test.want)
			}
		})
	}
}
