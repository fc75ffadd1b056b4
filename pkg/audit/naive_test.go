package audit_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// naive is a second implementation of the audit, written from
// docs/gc-semantics.md#verdicts, #decision and docs/rules.md without any index.
type naive struct {
	*snapshot.Snapshot
	Objects []object.Object
}

func naiveOf(s *snapshot.Snapshot) naive {
	v := naive{Snapshot: s}
	for _, o := range s.Objects {
		v.Objects = append(v.Objects, *o)
	}
	return v
}

// opinion is the naive result for one reference. The fix of a reference that may resolve
// after all is left to package repair: "?".
type opinion struct {
	verdict, rule, spelling, fix string
	watched                      bool
}

func (v naive) opinion(o object.Object, r object.Reference) opinion {
	bearer, listed, borne := v.bearer(r.UID)
	t, spelling, mapped := v.leads(r)
	out := opinion{spelling: spelling}
	switch {
	case !mapped && v.groupGap(r):
		return out.is("unknown", "unverified-owner", "none")
	case !mapped:
		kind, known := v.kind(r)
		_, version := groupVersion(r.APIVersion)
		switch {
		case known && kind.Namespaced && o.Namespace == "":
			return out.is("unresolvable", "cluster-to-namespaced-owner", "unlink")
		case known, borne && !v.serves(r.APIVersion, version):
			return out.is("unresolvable", "unserved-owner-version", "?")
		}
		return out.is("unresolvable", "unknown-owner-kind", "unlink")
	case o.Namespace == "" && t.Namespaced:
		return out.is("scope-error", "cluster-to-namespaced-owner", "unlink")
	}
	out.watched = t.Resource != "events" && t.Can("watch") || spelling == "list"
	namespace := ""
	if t.Namespaced {
		namespace = o.Namespace
	}
	lookup, asked := v.lookup(r, namespace)
	if at := bearer.ServedAs(r.APIVersion, r.Kind, o.Namespace, r.Name) || bearer.ServedAs(r.APIVersion, r.Kind, "", r.Name); borne && at && (listed || !asked) {
		return out.alive(bearer)
	}
	resident, resides := v.resident(t, namespace, r.Name)
	if spelling == "list" {
		resides = false
	} else {
		if r.Name == "" || r.Name == "." || r.Name == ".." || strings.ContainsAny(r.Name, "/%") {
			return out.is("unknown", "unverified-owner", "none")
		}
		switch {
		case asked && lookup.Outcome == snapshot.Failed:
			return out.is("unknown", "unverified-owner", "none")
		case asked && lookup.Outcome == snapshot.Absent:
			resides = false
		case asked:
			resident, resides = *lookup.Object, true
		case !resides && !v.listed(t, namespace):
			return out.is("unknown", "unverified-owner", "none")
		}
		if resides && resident.UID == r.UID {
			return out.alive(resident)
		}
	}
	switch {
	case borne && bearer.Namespace != "" && bearer.Namespace != o.Namespace:
		return out.is("dangling", "cross-namespace-owner", "unlink")
	case borne && !v.of(bearer, t, r.Name):
		return out.is("dangling", "mismatched-owner", "unlink")
	case resides:
		return out.is("dangling", "replaced-owner", "?")
	}
	return out.is("dangling", "missing-owner", "unlink")
}

func (o opinion) is(verdict, rule, fix string) opinion {
	o.verdict, o.rule, o.fix = verdict, rule, fix
	return o
}

func (o opinion) alive(owner object.Object) opinion {
	if deletesDependents(owner) {
		return o.is("waiting", "terminating-owner", "none")
	}
	return o.is("solid", "", "")
}

func groupVersion(apiVersion string) (group, version string) {
	parts := strings.Split(apiVersion, "/")
	switch len(parts) {
	case 1:
		return "", parts[0]
	case 2:
		return parts[0], parts[1]
	}
	return "", ""
}

func (v naive) leads(r object.Reference) (t snapshot.Type, spelling string, ok bool) {
	group, version := groupVersion(r.APIVersion)
	for _, t := range v.Types {
		if t.Group != group || t.Version != version && (version != "" || !t.Preferred) {
			continue
		}
		odd := ""
		if version == "" {
			odd = "no version"
		}
		switch r.Kind {
		case t.Kind:
			return t, odd, true
		case strings.ToLower(t.Kind):
			if odd == "" {
				odd = "lower case"
			}
			return t, odd, true
		case t.Kind + "List":
			return snapshot.Type{Group: group, Resource: "none", Kind: r.Kind, Namespaced: t.Namespaced}, "list", true
		case "List":
			return snapshot.Type{Group: group, Resource: "none", Kind: r.Kind}, "list", true
		}
	}
	return t, "", false
}

func (v naive) kind(r object.Reference) (snapshot.Type, bool) {
	group, _ := groupVersion(r.APIVersion)
	for _, t := range v.Types {
		if t.Group == group && t.Kind == r.Kind {
			return t, true
		}
	}
	return snapshot.Type{}, false
}

func (v naive) serves(apiVersion, version string) bool {
	return version != "" && slices.ContainsFunc(v.Types, func(t snapshot.Type) bool { return t.APIVersion() == apiVersion })
}

func (v naive) groupGap(r object.Reference) bool {
	group, _ := groupVersion(r.APIVersion)
	return slices.ContainsFunc(v.Gaps, func(g snapshot.Gap) bool {
		return g.Resource == "*" && (g.Group == "*" || g.Group == group)
	})
}

func (v naive) bearer(uid types.UID) (o object.Object, listed, borne bool) {
	for _, o := range v.Objects {
		if o.UID == uid {
			return o, true, true
		}
	}
	for _, l := range v.Lookups {
		if l.Object != nil && l.Object.UID == uid {
			return *l.Object, false, true
		}
	}
	return object.Object{}, false, false
}

// of reports whether the object has the type and name, under any of its identities.
func (v naive) of(o object.Object, t snapshot.Type, name string) bool {
	for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
		group, _ := groupVersion(i.APIVersion)
		if group == t.Group && (i.Kind == t.Kind) && i.Name == name {
			return true
		}
	}
	return false
}

func (v naive) resident(t snapshot.Type, namespace, name string) (object.Object, bool) {
	for _, o := range v.Objects {
		if o.Namespace == namespace && v.of(o, t, name) {
			return o, true
		}
	}
	return object.Object{}, false
}

func (v naive) lookup(r object.Reference, namespace string) (snapshot.Lookup, bool) {
	for _, l := range v.Lookups {
		if l.APIVersion == r.APIVersion && l.Kind == r.Kind && l.Namespace == namespace && l.Name == r.Name {
			return l, true
		}
	}
	return snapshot.Lookup{}, false
}

func (v naive) listed(t snapshot.Type, namespace string) bool {
	for _, l := range v.Listed {
		if l.Group == t.Group && l.Resource == t.Resource && (l.Namespace == "" || l.Namespace == namespace) {
			return true
		}
	}
	return false
}

// preferred returns the preferred apiVersion of the kind that a reference names, or the reference's
// own if its kind is not served in that version.
func (v naive) preferred(r object.Reference) string {
	out, served := r.APIVersion, false
	for _, t := range v.Types {
		if t.Group != r.GroupVersionKind().Group || t.Kind != r.Kind {
			continue
		}
		served = served || t.APIVersion() == r.APIVersion
		if t.Preferred {
			out = t.APIVersion()
		}
	}
	if !served {
		return r.APIVersion
	}
	return out
}

// consequence implements docs/gc-semantics.md#decision for the opinion on the i-th reference of an
// object.
func consequence(o object.Object, all []opinion, i int) string {
	verdict := all[i].verdict
	for j, r := range o.Owners { // references are removed by UID
		if verdict == "solid" && r.UID == o.Owners[i].UID && (all[j].verdict == "unknown" ||
			(all[j].verdict == "dangling" || all[j].verdict == "waiting") && slices.ContainsFunc(all, func(p opinion) bool { return p.verdict == "unknown" })) {
			verdict = "unknown"
		}
	}
	undecidable := func(p opinion) bool { return p.verdict == "unresolvable" || p.verdict == "scope-error" }
	has := func(verdict string) bool {
		return slices.ContainsFunc(all, func(p opinion) bool { return p.verdict == verdict })
	}
	switch {
	case o.Deleted != nil, verdict == "solid", all[i].verdict == "solid" && slices.ContainsFunc(all, undecidable):
		return "none"
	case slices.ContainsFunc(all, undecidable):
		return "stuck"
	case has("unknown"):
		return "unknown"
	case has("solid"):
		return "unlink"
	}
	return "delete"
}

func deletesDependents(o object.Object) bool {
	return o.Deleted != nil && slices.Contains(o.Finalizers, "foregroundDeletion")
}

func orphansDependents(o object.Object) bool {
	return o.Deleted != nil && slices.Contains(o.Finalizers, "orphan")
}

// holds reports whether one of the references with that UID is solid.
func holds(o object.Object, all []opinion, uid types.UID) bool {
	for i, r := range o.Owners {
		if r.UID == uid && all[i].verdict == "solid" {
			return true
		}
	}
	return false
}

// deadlocked reports whether every member waits for another one
// (docs/gc-semantics.md#stuck-foreground-deletions).
func deadlocked(cycle []object.Object) bool {
	for _, owner := range cycle {
		blocked := false
		for _, dependent := range cycle {
			for _, r := range dependent.Owners {
				blocks := r.UID == owner.UID && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
				blocked = blocked || blocks && dependent.UID != owner.UID
			}
		}
		if !blocked || !deletesDependents(owner) || orphansDependents(owner) {
			return false
		}
	}
	return true
}

func severity(verdict, consequence string) string {
	grade := map[string]string{"delete": "error", "stuck": "error", "unlink": "warning", "unknown": "warning", "none": "info"}[consequence]
	if verdict == "waiting" && consequence == "delete" {
		return "warning"
	}
	return grade
}

// findings returns all findings in the format of told.
func (v naive) findings(stuckAfter time.Duration) []string {
	var out []string
	say := func(rule string, o object.Object, i int, severity, verdict, consequence, fix string) {
		out = append(out, fmt.Sprintf("%s: %s %s %s %s %s %s", o.UID, rule, at(o, i), severity, verdict, consequence, fix))
	}
	owners := map[types.UID][]types.UID{}
	for _, o := range v.Objects {
		var all []opinion
		for _, r := range o.Owners {
			all = append(all, v.opinion(o, r))
		}
		var dropped []types.UID // the collector drops references by UID
		for i, p := range all {
			if p.verdict != "solid" && consequence(o, all, i) == "unlink" {
				dropped = append(dropped, o.Owners[i].UID)
			}
		}
		controllers, left, rejected := 0, 0, false
		for i, r := range o.Owners {
			merged := slices.ContainsFunc(o.Owners[:i], r.Equal)
			if r.Controls() && !merged && !slices.Contains(dropped, r.UID) {
				left++
			}
			invalid := r.APIVersion == "" || r.Kind == "" || r.Name == "" || r.UID == "" || r.APIVersion == "v1" && r.Kind == "Event"
			rejected = rejected || invalid && !slices.Contains(dropped, r.UID)
		}
		for i, r := range o.Owners {
			p := all[i]
			c := consequence(o, all, i)
			grade := severity(p.verdict, c)
			if p.rule != "" {
				if o.Deleted != nil && p.fix != "?" {
					p.fix = "none"
				}
				say(p.rule, o, i, grade, p.verdict, c, p.fix)
			}
			if p.spelling != "" {
				say("misspelled-owner-kind", o, i, grade, p.verdict, c, "none")
			}
			if preferred := v.preferred(r); p.verdict == "solid" && p.spelling == "" && preferred != r.APIVersion {
				fix, updated := "none", r
				updated.APIVersion = preferred
				if o.Deleted == nil && !o.Contested && v.opinion(o, updated).verdict == "solid" {
					fix = "update-version"
				}
				say("outdated-owner-version", o, i, grade, p.verdict, c, fix)
			}
			if p.verdict == "solid" || p.verdict == "waiting" {
				owners[o.UID] = append(owners[o.UID], r.UID)
				if !p.watched {
					say("unmonitored-owner", o, i, grade, p.verdict, c, "none")
				}
			}
			if r.UID == o.UID {
				switch {
				case deletesDependents(o) && !orphansDependents(o) && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion:
					say("self-owner", o, i, "error", p.verdict, "stuck", "unlink")
				case p.verdict == "solid" && o.Deleted == nil:
					say("self-owner", o, i, "error", "solid", "stuck", "unlink")
				default:
					say("self-owner", o, i, grade, p.verdict, c, "unlink")
				}
			}
			if first := slices.IndexFunc(o.Owners, func(other object.Reference) bool { return other.UID == r.UID }); first < i {
				if slices.Contains(dropped, r.UID) && holds(o, all, r.UID) {
					say("duplicate-owner", o, i, "warning", p.verdict, "unlink", "unlink")
				} else {
					say("duplicate-owner", o, i, grade, p.verdict, c, "unlink")
				}
			}
			if r.Controls() {
				if controllers++; controllers > 1 {
					switch {
					case len(dropped) > 0 && (left > 1 || rejected):
						say("multiple-controllers", o, i, "error", p.verdict, "stuck", "unlink")
					case grade == "info":
						say("multiple-controllers", o, i, "warning", p.verdict, c, "unlink")
					default:
						say("multiple-controllers", o, i, grade, p.verdict, c, "unlink")
					}
				}
			}
		}
		foreign := slices.ContainsFunc(o.Finalizers, func(f string) bool { return f != "foregroundDeletion" && f != "orphan" })
		if o.Deleted != nil && foreign && v.Taken.Sub(*o.Deleted) > stuckAfter {
			say("stuck-finalizer", o, -1, "warning", "", "none", "none")
		}
		if o.Kind == "Namespace" && o.Deleted != nil && v.Taken.Sub(*o.Deleted) > stuckAfter {
			grade, c := v.stuckNamespace(o)
			say("stuck-namespace", o, -1, grade, "", c, "none")
		}
	}
	for i, o := range v.Objects {
		cycle := v.cycle(o, owners)
		if len(cycle) < 2 || cycle[0].UID != o.UID {
			continue
		}
		if slices.ContainsFunc(cycle, func(m object.Object) bool { return m.Deleted != nil }) && !deadlocked(cycle) {
			say("owner-cycle", v.Objects[i], -1, "warning", "", "none", "unlink")
		} else {
			say("owner-cycle", v.Objects[i], -1, "error", "", "stuck", "unlink")
		}
	}
	slices.Sort(out)
	return out
}

// stuckNamespace returns the severity and the consequence for a Namespace that has long been
// terminating.
func (v naive) stuckNamespace(o object.Object) (severity, consequence string) {
	status := object.NamespaceStatus{}
	if o.NamespaceStatus != nil {
		status = *o.NamespaceStatus
	}
	fails, held := status.Is(object.GroupVersionFailure), len(o.Finalizers) > 0 || len(status.Finalizers) > 0
	for _, g := range v.Gaps {
		if g.Resource == "*" {
			fails = fails || status.Is(object.DiscoveryFailure)
			held = held || g.Group != "*" && g.Group != "" && (g.Reason == "unavailable" || g.Reason == "server-error")
		}
	}
	contents, deleted, read, overdue := 0, 0, v.allListedIn(o.Name), false
	podStops := slices.ContainsFunc(v.Objects, func(c object.Object) bool { return c.Namespace == o.Name && c.Kind == "Pod" && c.Deleted != nil })
	for _, c := range v.Objects {
		if c.Namespace != o.Name {
			continue
		}
		contents++
		if c.Deleted != nil || podStops && c.Kind != "Pod" {
			deleted++
		}
		overdue = overdue || c.Kind == "Pod" && c.GraceSeconds != nil && *c.GraceSeconds > 0 && c.Deleted != nil && c.Deleted.Before(v.Taken)
		held = held || c.GraceSeconds != nil && *c.GraceSeconds > 0 && c.Deleted != nil ||
			slices.ContainsFunc(c.Finalizers, func(f string) bool { return f != "foregroundDeletion" && f != "orphan" })
	}
	if status.Is(object.ContentFailure) && (!read && !overdue || deleted < contents || v.cannotList(o.Name)) {
		fails = true
	}
	switch {
	case fails:
		return "error", "stuck"
	case held:
		return "warning", "none"
	}
	return "warning", "unknown"
}

// allListedIn reports whether every object of a namespace was read.
func (v naive) allListedIn(namespace string) bool {
	for _, t := range v.Types {
		if t.Preferred && t.Namespaced && t.Can("delete") && t.Resource != "events" && !v.listed(t, namespace) {
			return false
		}
	}
	return !slices.ContainsFunc(v.Gaps, func(g snapshot.Gap) bool { return g.Resource == "*" || g.Reason == "undiscovered" })
}

// cannotList reports whether the API server failed to list a type in a namespace.
func (v naive) cannotList(namespace string) bool {
	return slices.ContainsFunc(v.Gaps, func(g snapshot.Gap) bool {
		return g.Resource != "*" && g.Reason != "forbidden" && (g.Namespace == "" || g.Namespace == namespace)
	})
}

// drawNamespaceStatuses gives the terminating Namespaces of a snapshot a random status.
func drawNamespaceStatuses(t *rapid.T, s *snapshot.Snapshot) {
	for i, o := range s.Objects {
		if !o.IsNamespace() || !o.Terminating() {
			continue
		}
		with := *o
		switch rapid.IntRange(0, 4).Draw(t, "status") {
		case 0: // not read
		case 1:
			with.NamespaceStatus = &object.NamespaceStatus{}
		default:
			st.Reporting()(&with)
			for _, c := range []string{object.DiscoveryFailure, object.GroupVersionFailure, object.ContentFailure, object.ContentRemaining, object.FinalizersRemaining} {
				with.NamespaceStatus.Conditions = append(with.NamespaceStatus.Conditions, object.NamespaceCondition{Type: c, True: rapid.IntRange(0, 3).Draw(t, c) == 3})
			}
			if rapid.IntRange(0, 5).Draw(t, "spec") == 5 {
				with.NamespaceStatus.Finalizers = []string{"x/y"}
			}
		}
		s.Objects[i] = &with
	}
}

// cycle returns the objects that own o and are owned by o, including o.
func (v naive) cycle(o object.Object, owners map[types.UID][]types.UID) []object.Object {
	var out []object.Object
	for _, m := range v.Objects {
		if m.UID == o.UID || reaches(o.UID, m.UID, owners, nil) && reaches(m.UID, o.UID, owners, nil) {
			out = append(out, m)
		}
	}
	return out
}

func reaches(from, to types.UID, owners map[types.UID][]types.UID, seen []types.UID) bool {
	for _, owner := range owners[from] {
		if owner == to {
			return true
		}
		if !slices.Contains(seen, owner) {
			seen = append(seen, owner)
			if reaches(owner, to, owners, seen) {
				return true
			}
		}
	}
	return false
}

// at identifies the reference of a finding by its content, because a finding has no index.
func at(o object.Object, i int) string {
	if i < 0 {
		return "itself"
	}
	r := o.Owners[i]
	return fmt.Sprintf("%s %s %s controls %v blocks %v", r.APIVersion, r, r.UID, r.Controls(), r.Blocks())
}

func told(r *audit.Report) []string {
	var out []string
	for _, f := range r.Findings {
		about := "itself"
		if r := f.Reference; r != nil {
			about = fmt.Sprintf("%s %s/%s %s controls %v blocks %v", r.APIVersion, r.Kind, r.Name, r.UID, r.Controls(), r.Blocks())
		}
		fix := f.Fix
		if f.Rule == "replaced-owner" || f.Rule == "unserved-owner-version" {
			fix = "?"
		}
		out = append(out, fmt.Sprintf("%s: %s %s %s %s %s %s", f.Object.UID, f.Rule, about, f.Severity, f.Verdict, f.Consequence, fix))
	}
	slices.Sort(out)
	return out
}

// unpredicted leaves out what the collector does about bad references, about those with the UID of
// others, and about objects that it is stuck on while an owner orphans them: more than the
// references decides about that, and package simulate has tests of its own.
func (v naive) unpredicted(findings []string) []string {
	orphaned, owners := map[string]bool{}, slices.Clone(v.Objects)
	for _, l := range v.Lookups {
		if l.Object != nil {
			owners = append(owners, *l.Object)
		}
	}
	for _, o := range v.Objects {
		orphaned[string(o.UID)] = slices.ContainsFunc(owners, func(owner object.Object) bool {
			return orphansDependents(owner) && slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == owner.UID })
		})
	}
	for i, f := range findings {
		if uid, _, _ := strings.Cut(f, ":"); orphaned[uid] {
			f = predictedStuck.ReplaceAllString(f, " ?")
		}
		f = predictedDouble.ReplaceAllString(f, "$1 ?")
		findings[i] = predictedPart.ReplaceAllString(f, " $1 ?")
	}
	slices.Sort(findings)
	return findings
}

var (
	predictedPart   = regexp.MustCompile(` (?:error|warning|info) (dangling|waiting) (?:delete|unlink|none)`)
	predictedStuck  = regexp.MustCompile(` (?:error|warning|info) \S+ (?:stuck|delete|unlink|unknown|none)`)
	predictedDouble = regexp.MustCompile(`^(\S+ duplicate-owner .*) (?:error|warning|info) solid (?:unlink|none)`)
)

// naiveRules are the rules that naive has: all whose findings depend on more than one fact. Blocked
// deletions depend on the model, which has tests of its own.
var naiveRules = []string{
	"missing-owner", "replaced-owner", "mismatched-owner", "cross-namespace-owner", "cluster-to-namespaced-owner",
	"unserved-owner-version", "unknown-owner-kind", "unverified-owner", "terminating-owner",
	"owner-cycle", "self-owner", "duplicate-owner", "multiple-controllers", "stuck-finalizer", "unmonitored-owner", "misspelled-owner-kind", "outdated-owner-version",
	"stuck-namespace",
}

func TestAuditEqualsNaiveAudit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		drawNamespaceStatuses(t, s)
		stuckAfter := rapid.SampledFrom([]time.Duration{terminating.DefaultStuckAfter, 0}).Draw(t, "stuck after")
		report := run(t, s, audit.Filter{Rules: naiveRules, StuckAfter: stuckAfter})
		if diff := cmp.Diff(naiveOf(s).unpredicted(naiveOf(s).findings(stuckAfter)), naiveOf(s).unpredicted(told(report)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What depends on the order of events may also depend on that of the objects, in which the simulation takes them: also whether it
// sees that the order matters.
func TestReportIsIndependentOfInputOrder(t *testing.T) {
	reference := func(f audit.Finding) string { return fmt.Sprint(f.Object, f.Reference) }
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		shuffled := *s
		shuffled.Objects = rapid.Permutation(s.Objects).Draw(t, "objects")
		shuffled.Types = rapid.Permutation(s.Types).Draw(t, "types")
		shuffled.Listed = rapid.Permutation(s.Listed).Draw(t, "listed")
		reports, uncertain := []*audit.Report{run(t, s, audit.Filter{}), run(t, &shuffled, audit.Filter{})}, map[string]bool{}
		for _, report := range reports {
			for _, f := range report.Findings {
				uncertain[reference(f)] = uncertain[reference(f)] || f.Nondeterministic != nil
			}
		}
		for _, report := range reports {
			report.Findings = slices.DeleteFunc(report.Findings, func(f audit.Finding) bool { return uncertain[reference(f)] })
			report.Summary = audit.Totals{Objects: report.Summary.Objects, References: report.Summary.References}
		}
		if diff := cmp.Diff(reports[0], reports[1], cmpopts.IgnoreFields(audit.Finding{}, "Edge")); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestGapsNeverAddDeletions(t *testing.T) {
	deleted := func(t *rapid.T, s *snapshot.Snapshot) []types.UID {
		var out []types.UID
		for _, f := range run(t, s, audit.Filter{}).Findings {
			if f.Consequence == collector.ConsequenceDelete {
				out = append(out, f.Object.UID)
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		gapped := *s
		listing := rapid.SampledFrom(append(slices.Clone(s.Listed), snapshot.Listing{Group: "*", Resource: "*"})).Draw(t, "gap")
		gapped.Gaps = append(slices.Clone(s.Gaps), snapshot.Gap{Group: listing.Group, Resource: listing.Resource, Reason: snapshot.Forbidden})
		if rapid.Bool().Draw(t, "never seen") {
			gapped = without(gapped, listing)
		}
		before := deleted(t, s)
		for _, uid := range deleted(t, &gapped) {
			if !slices.Contains(before, uid) {
				t.Fatalf("%s is to be deleted since %+v has a gap", uid, listing)
			}
		}
	})
}

// without returns the snapshot as if the type had not been listed.
func without(s snapshot.Snapshot, l snapshot.Listing) snapshot.Snapshot {
	view := snapshot.NewView(&s)
	of := func(apiVersion, kind string) bool {
		m, ok := view.Map(apiVersion, kind)
		return ok && m.Type.Group == l.Group && m.Type.Resource == l.Resource
	}
	s.Listed = slices.DeleteFunc(slices.Clone(s.Listed), func(other snapshot.Listing) bool {
		return other.Group == l.Group && other.Resource == l.Resource
	})
	s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), func(o *object.Object) bool { return of(o.APIVersion, o.Kind) })
	s.Lookups = slices.DeleteFunc(slices.Clone(s.Lookups), func(l snapshot.Lookup) bool { return of(l.APIVersion, l.Kind) })
	return s
}

// Nothing restricts the text of a reference in a cluster or file.
func TestArbitraryReferenceTextDoesNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		text := rapid.String()
		for i := range s.Objects {
			for k := range s.Objects[i].Owners {
				r := &s.Objects[i].Owners[k]
				for _, field := range []*string{&r.APIVersion, &r.Kind, &r.Name, (*string)(&r.UID)} {
					if rapid.Bool().Draw(t, "replace") {
						*field = text.Draw(t, "text")
					}
				}
			}
			s.Objects[i].Finalizers = append(s.Objects[i].Finalizers, text.Draw(t, "finalizer"))
		}
		if _, err := json.Marshal(run(t, s, audit.Filter{})); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReportIsSorted(t *testing.T) {
	position := map[string]int{}
	for i, id := range audit.IDs() {
		position[id] = i
	}
	rapid.Check(t, func(t *rapid.T) {
		report := run(t, st.Draw(t), audit.Filter{})
		for i := range len(report.Findings) - 1 {
			a, b := report.Findings[i], report.Findings[i+1]
			order := a.Object.Compare(b.Object)
			if order > 0 || order == 0 && position[a.Rule] > position[b.Rule] {
				t.Fatalf("%s of %s comes before %s of %s", a.Rule, a.Object, b.Rule, b.Object)
			}
		}
	})
}

func TestSummaryCountsFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		report := run(t, s, audit.Filter{})
		want := audit.Totals{Objects: len(s.Objects)}
		for _, o := range s.Objects {
			want.References += len(o.Owners)
		}
		for _, f := range report.Findings {
			switch f.Severity {
			case audit.Error:
				want.Errors++
			case audit.Warning:
				want.Warnings++
			case audit.Info:
				want.Infos++
			}
		}
		if diff := cmp.Diff(want, report.Summary); diff != "" {
			t.Fatal(diff)
		}
		if report.Complete != (len(s.Gaps) == 0) {
			t.Fatalf("complete %v with %d gaps", report.Complete, len(s.Gaps))
		}
	})
}
