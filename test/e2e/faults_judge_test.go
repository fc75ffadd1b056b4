package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// copyResult is what happened to one copy of a graph.
type copyResult struct {
	before, after graphState      // around the run of the command
	final         graphState      // after the runs that complete it
	backedUp      map[string]bool // the roles of the objects in the backups of the command
	result        result
	faults        *proxy.FaultInjector // nil: no faults
	liar          *proxy.Liar          // nil: no lies
}

// verdict is the evaluation of a run under faults.
type verdict struct {
	*copyResult
	seed    uint64
	command string
	objects int
	inTime  bool // within the time limit

	deleted int // objects that were deleted, or began to be
	// Deleted objects whose deletion is nondeterministic in the real collector as well, one per
	// line.
	nondeterministic []string
	// Violations, one per line.
	wrongDeletes, notBackedUp, panics, differing, other []string
	// Violations under lies: finalizers removed without proof, exit code 0 although not
	// everything was done, objects created twice.
	unproven, falseSuccess, createdTwice []string
	peak                                 int64       // the peak memory of the program, in bytes
	tables                               *proxy.Liar // for a run of tree; nil: it was not run
}

// judge reports the violations of a run under faults, by comparison with a run without
// faults and with the graph as it was built.
func (o *faultScenario) judge(v *verdict, baseline *copyResult) {
	o.Helper()
	o.compareFinalStates(v, baseline)
	o.checkBehavior(v)
	if v.liar != nil {
		o.judgeUnderLies(v, baseline)
	}
	for _, line := range v.nondeterministic {
		o.Log(line)
	}
	for _, line := range slices.Concat(v.wrongDeletes, v.notBackedUp, v.panics, v.differing, v.other, v.unproven, v.falseSuccess, v.createdTwice) {
		o.Error(line)
	}
	if !v.inTime {
		o.Error("it did not end in time")
	}
	if o.Failed() {
		o.Logf("its output: %s\n%s\n%s", short(v.result.Stdout), v.result.Stderr[max(0, len(v.result.Stderr)-8000):], o.completionOutput)
		o.Logf("output without faults: %s", short(baseline.result.Stdout))
	}
}

// compareFinalStates compares the final state of each object under faults with that without faults.
func (o *faultScenario) compareFinalStates(v *verdict, baseline *copyResult) {
	o.Helper()
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		was, is := v.before[role], v.after[role]
		nondeterministic := false
		if wasDeletedNow(was, is) {
			v.deleted++
			owner := o.reasonToStay(role, v.final)
			if owner != "" {
				v.wrongDeletes = append(v.wrongDeletes, fmt.Sprintf("%s %s is %s, and has %s", role, o.describe(role), is, owner))
			}
			if !wasDeletedNow(was, baseline.after[role]) {
				line := fmt.Sprintf("%s %s is %s, and without faults %s", role, o.describe(role), is, baseline.after[role])
				if nondeterministic = owner == "" && o.nondeterministicDeletion(role, v.before, baseline.final); nondeterministic {
					v.nondeterministic = append(v.nondeterministic, line+": nondeterministic")
				} else {
					v.wrongDeletes = append(v.wrongDeletes, line)
				}
			}
		}
		if o.mustBackUp(was, is) && !v.backedUp[role] {
			v.notBackedUp = append(v.notBackedUp, fmt.Sprintf("%s %s is %s, and in no backup", role, o.describe(role), is))
		}
		if got, want := o.finalCondition(v.final, role, was), o.finalCondition(baseline.final, role, was); got != want && !nondeterministic {
			v.differing = append(v.differing, fmt.Sprintf("%s %s\n  before:      %s\n  after:       %s\n  in the end:  %s\n  no faults:   %s", role, o.describe(role), was, is, got, want))
		}
	}
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
		if _, known := o.kinds(c); !known {
			return fmt.Sprintf("an owner of a kind that is not known, %s %s", c.apiVersion, c.kind)
		}
		if owner := end[roleOf(c.uid)]; o.solid(n, c) && !owner.Gone && !owner.Terminating {
			return fmt.Sprintf("an owner that is there, %s %s", roleOf(c.uid), owner)
		}
	}
	return ""
}

// solid reports whether a reference of a part is valid: its owner exists with that name and kind,
// and in a namespace where it may own the part.
func (b *blueprint) solid(n int, c partRef) bool {
	if c.uid < 0 || c.name != c.uid {
		return false
	}
	owner := b.parts[c.uid]
	group := func(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
	return owner.change != wasDeleted && owner.change != wasReplaced && (owner.namespace == clusterScoped || owner.namespace == b.parts[n].namespace) &&
		owner.kind == c.kind && group(owner.apiVersion) == group(c.apiVersion)
}

// checkBehavior checks what must hold under any faults.
func (o *faultScenario) checkBehavior(v *verdict) {
	r := v.result
	for _, sign := range []string{"panic:", "goroutine ", "fatal error:", "DATA RACE"} {
		if v.inTime && strings.Contains(r.Stderr, sign) {
			v.panics = append(v.panics, fmt.Sprintf("standard error holds %q", sign))
		}
	}
	if v.inTime && (r.Code < 0 || r.Code > 2) {
		v.other = append(v.other, fmt.Sprintf("it exits with %d", r.Code))
	}
	if r.Code == 2 {
		for role, was := range v.before {
			if was.String() != v.after[role].String() {
				v.other = append(v.other, fmt.Sprintf("it exits with 2, but %s is %s, and was %s", role, v.after[role], was))
			}
		}
	}
	if strings.Contains(r.Stdout+r.Stderr, canary) {
		v.other = append(v.other, "the token is in its output")
	}
	err := filepath.WalkDir(o.backups, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), canary) {
			v.other = append(v.other, "the token is in "+path)
		}
		return err
	})
	o.must(err)
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
