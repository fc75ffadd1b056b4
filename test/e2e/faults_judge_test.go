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
	before, after ending          // the command
	end           ending          // after what finishes it
	saved         map[string]bool // the roles of what is in the backups of the command
	result        result
	mischief      *proxy.FaultInjector // nil: no faults
	liar          *proxy.Liar          // nil: no lies
}

// verdict is the evaluation of a run under faults.
type verdict struct {
	*copyResult
	seed    uint64
	command string
	objects int
	ended   bool // in its time

	deleted int // objects that went, or began to go
	// Those of them whose deletion is nondeterministic upstream, too, one per line.
	lucky []string
	// Violations, one per line.
	wrong, unsaved, panics, unlike, other []string
	// Violations under lies: finalizers removed without proof, exit code 0 although not
	// everything was done, objects created twice.
	unproven, false, twice []string
	peak                   int64       // the most memory that the program took, in bytes
	tables                 *proxy.Liar // of a command that reads; nil: there was none
}

// judge reports the violations of a run under faults, by comparison with a run without
// faults and with the graph as it was built.
func (o *faultScenario) judge(v *verdict, undisturbed *copyResult) {
	o.Helper()
	o.compare(v, undisturbed)
	o.checkBehavior(v)
	if v.liar != nil {
		o.judgeUnderLies(v, undisturbed)
	}
	for _, line := range v.lucky {
		o.Log(line)
	}
	for _, line := range slices.Concat(v.wrong, v.unsaved, v.panics, v.unlike, v.other, v.unproven, v.false, v.twice) {
		o.Error(line)
	}
	if !v.ended {
		o.Error("it did not end in time")
	}
	if o.Failed() {
		o.Logf("it said: %s\n%s\n%s", short(v.result.Stdout), v.result.Stderr[max(0, len(v.result.Stderr)-8000):], o.finishing)
		o.Logf("undisturbed it said: %s", short(undisturbed.result.Stdout))
	}
}

// compare compares the final state of each object under faults with that without faults.
func (o *faultScenario) compare(v *verdict, undisturbed *copyResult) {
	o.Helper()
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		was, is := v.before[role], v.after[role]
		lucky := false
		if wasDeletedNow(was, is) {
			v.deleted++
			owner := o.held(role, v.end)
			if owner != "" {
				v.wrong = append(v.wrong, fmt.Sprintf("%s %s is %s, and has %s", role, o.describe(role), is, owner))
			}
			if !wasDeletedNow(was, undisturbed.after[role]) {
				line := fmt.Sprintf("%s %s is %s, and undisturbed %s", role, o.describe(role), is, undisturbed.after[role])
				if lucky = owner == "" && o.nondeterministicDeletion(role, v.before, undisturbed.end); lucky {
					v.lucky = append(v.lucky, line+": a matter of luck")
				} else {
					v.wrong = append(v.wrong, line)
				}
			}
		}
		if o.saves(was, is) && !v.saved[role] {
			v.unsaved = append(v.unsaved, fmt.Sprintf("%s %s is %s, and in no backup", role, o.describe(role), is))
		}
		if got, want := o.finalCondition(v.end, role, was), o.finalCondition(undisturbed.end, role, was); got != want && !lucky {
			v.unlike = append(v.unlike, fmt.Sprintf("%s %s\n  before:      %s\n  after:       %s\n  in the end:  %s\n  undisturbed: %s", role, o.describe(role), was, is, got, want))
		}
	}
}

// finalCondition returns the final state of an object, without the order of its owners. An
// object that waits only for its dependents counts as gone: a run that cannot read the
// dependents deletes it at once.
func (o *faultScenario) finalCondition(e ending, role string, before condition) string {
	c := e[role]
	if goes(c) {
		return "gone"
	}
	// The same of what somebody else holds, too: whether it waits beside that is of no
	// account where its deletion began only now, nor where nothing stays that blocks it.
	if c.Terminating && (!before.Terminating || !e.blocked(role)) {
		c.Finalizers = slices.DeleteFunc(slices.Clone(c.Finalizers), func(f string) bool { return f == metav1.FinalizerDeleteDependents })
	}
	c.Owners = slices.SortedFunc(slices.Values(c.Owners), func(a, b owned) int { return strings.Compare(a.line, b.line) })
	if c.Terminating { // it is judged no more: what is of account is only whom it may block
		n := o.number(role)
		c.Owners = slices.DeleteFunc(c.Owners, func(r owned) bool {
			owner, known := e[r.uid]
			good := func(c claim) bool { return roleOf(c.uid) == r.uid && o.solid(n, c) }
			return !known || goes(owner) || !slices.ContainsFunc(o.parts[n].claims, good)
		})
	}
	return c.String()
}

// goes reports whether an object is gone, or waits only for its dependents.
func goes(c condition) bool {
	foreign := slices.ContainsFunc(c.Finalizers, func(f string) bool { return f != metav1.FinalizerDeleteDependents })
	return c.Gone || c.Terminating && len(c.Finalizers) > 0 && !foreign
}

// blocked reports whether an object that stays blocks the deletion of this one.
func (e ending) blocked(role string) bool {
	for _, c := range e {
		if !goes(c) && slices.ContainsFunc(c.Owners, func(o owned) bool { return o.uid == role && o.blocks }) {
			return true
		}
	}
	return false
}

// held returns why an object had to stay: an owner that still exists at the end, or one
// that cannot be judged. Empty if nothing kept it.
func (o *faultScenario) held(role string, end ending) string {
	n := o.number(role)
	if strings.HasSuffix(role, "'") || o.requests(role) {
		return ""
	}
	for _, c := range o.parts[n].claims {
		if _, known := o.kinds(c); !known {
			return fmt.Sprintf("an owner of a kind that is not known, %s %s", c.apiVersion, c.kind)
		}
		if owner := end[roleOf(c.uid)]; o.solid(n, c) && !owner.Gone && !owner.Terminating {
			return fmt.Sprintf("an owner that is there, %s %s", roleOf(c.uid), owner)
		}
	}
	return ""
}

// solid reports whether a reference of a part is valid: its owner exists, with that name
// and kind, where it may be an owner.
func (b *blueprint) solid(n int, c claim) bool {
	if c.uid < 0 || c.name != c.uid {
		return false
	}
	owner := b.parts[c.uid]
	group := func(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
	return owner.fate != wasDeleted && owner.fate != wasReplaced && (owner.space == nowhere || owner.space == b.parts[n].space) &&
		owner.kind == c.kind && group(owner.apiVersion) == group(c.apiVersion)
}

// checkBehavior checks what holds for a program under any faults.
func (o *faultScenario) checkBehavior(v *verdict) {
	r := v.result
	for _, sign := range []string{"panic:", "goroutine ", "fatal error:", "DATA RACE"} {
		if v.ended && strings.Contains(r.Stderr, sign) {
			v.panics = append(v.panics, fmt.Sprintf("standard error holds %q", sign))
		}
	}
	if v.ended && (r.Code < 0 || r.Code > 2) {
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
		v.other = append(v.other, "its token is in what it says")
	}
	err := filepath.WalkDir(o.backups, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), canary) {
			v.other = append(v.other, "its token is in "+path)
		}
		return err
	})
	o.must(err)
}

// kept returns the roles of the objects in the backups, which must be complete.
func (o *faultScenario) kept() map[string]bool {
	o.Helper()
	out := map[string]bool{}
	for _, folder := range o.folders() {
		b, err := backup.Open(folder)
		if err != nil {
			files, _ := filepath.Glob(filepath.Join(folder, "*")) // the pattern is none that is malformed
			o.Errorf("%v: it holds %q", err, files)
			continue
		}
		for _, e := range b.Entries {
			manifest, err := b.Manifest(e)
			var of metav1.PartialObjectMetadata
			if err == nil {
				err = json.Unmarshal(manifest, &of)
			}
			if err != nil {
				o.Errorf("%s in %s: %v", e.Object, folder, err)
				continue
			}
			role, ours := o.members[e.Object.UID]
			if !ours {
				continue
			}
			if built := o.objects[o.number(role)]; of.Kind != built.GetKind() || of.Name != built.GetName() || of.Namespace != built.GetNamespace() {
				o.Logf("%s in %s is not it, but %s/%s in namespace %q", e.Object, folder, of.Kind, of.Name, of.Namespace)
				continue
			}
			out[role] = true
		}
		o.must(b.Close())
	}
	return out
}

// now returns the state of the graph. An object that a restoration created has the role of
// the part with its name.
func (o *faultScenario) now() ending {
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
				o.recognise(role, item.UID)
			}
		}
	}
	return o.state()
}

func (o *faultScenario) recognise(role string, uid types.UID) {
	for old, other := range o.members {
		if other == role {
			delete(o.members, old)
			o.roles[string(old)] = role + ", as it was before,"
		}
	}
	o.members[uid], o.roles[string(uid)] = role, role
}
