package e2e

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// expectedAudit computes the findings of an audit of the whole cluster in the way the collector
// judges references: with client-go's RESTMapper for kinds, and one GET for each owner. It is
// slow, simple and shares no code with the program.
type expectedAudit struct {
	*scene
	mapper  meta.RESTMapper
	served  []*metav1.APIResourceList
	watched map[schema.GroupResource]bool
	objects []*expectedObject
	byUID   map[types.UID]*expectedObject
	asked   map[string]reply
}

// expectedObject is a listed object, with the expected verdicts of its references.
type expectedObject struct {
	id       identity
	meta     metav1.ObjectMeta
	verdicts []expectedVerdict // one for each reference, in their order
}

// expectedVerdict is a verdict and its rule; the rule is empty for a valid owner.
type expectedVerdict struct{ verdict, rule string }

type reply struct {
	object *metav1.PartialObjectMetadata
	err    error
}

func (s *scene) newExpectedAudit() *expectedAudit {
	s.Helper()
	f := &expectedAudit{scene: s, watched: map[schema.GroupResource]bool{}, byUID: map[types.UID]*expectedObject{}, asked: map[string]reply{}}
	groups, err := restmapper.GetAPIGroupResources(s.discovery)
	s.must(err)
	f.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	_, f.served, err = s.discovery.ServerGroupsAndResources()
	s.must(err)
	preferred, err := discovery.ServerPreferredResources(s.discovery)
	s.must(err)
	watched, err := discovery.GroupVersionResources(discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"delete", "list", "watch"}}, preferred))
	s.must(err)
	for resource := range watched {
		if resource.Resource != "events" || resource.Group != "" && resource.Group != "events.k8s.io" {
			f.list(resource)
		}
	}
	for _, o := range f.objects {
		for _, r := range o.meta.OwnerReferences {
			o.verdicts = append(o.verdicts, f.judge(o, r))
		}
	}
	return f
}

func (f *expectedAudit) list(resource schema.GroupVersionResource) {
	f.Helper()
	kind, err := f.mapper.KindFor(resource)
	f.must(err)
	list, err := f.metadata.Resource(resource).List(f.Context(), metav1.ListOptions{})
	f.must(err)
	f.watched[resource.GroupResource()] = true
	for _, item := range list.Items {
		apiVersion, name := kind.ToAPIVersionAndKind()
		o := &expectedObject{identity{apiVersion, name, item.Namespace, item.Name, string(item.UID)}, item.ObjectMeta, nil}
		f.objects = append(f.objects, o)
		f.byUID[item.UID] = o
	}
}

// judge implements the table of verdicts in docs/gc-semantics.md.
func (f *expectedAudit) judge(o *expectedObject, r metav1.OwnerReference) expectedVerdict {
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	mapping, err := f.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	switch {
	case err != nil:
		return expectedVerdict{"unresolvable", f.ruleOfUnresolvable(o, r)}
	case o.meta.Namespace == "" && namespaced(mapping):
		return expectedVerdict{"scope-error", "cluster-to-namespaced-owner"}
	case len(content.IsPathSegmentName(r.Name)) > 0:
		// The name is not a valid path segment. The collector would request another path; the
		// program sends no request.
		return expectedVerdict{"unknown", "unverified-owner"}
	}
	owner, err := f.get(mapping, o.meta.Namespace, r.Name)
	switch {
	case apierrors.IsNotFound(err):
		return expectedVerdict{"dangling", f.ruleOfDangling(o, r, false)}
	case err != nil:
		return expectedVerdict{"unknown", "unverified-owner"}
	case owner.UID != r.UID:
		return expectedVerdict{"dangling", f.ruleOfDangling(o, r, true)}
	case (&expectedObject{meta: owner.ObjectMeta}).foreground():
		return expectedVerdict{"waiting", "terminating-owner"}
	}
	return expectedVerdict{"solid", ""}
}

func (f *expectedAudit) get(m *meta.RESTMapping, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	if !namespaced(m) {
		namespace = ""
	}
	key := fmt.Sprint(m.Resource, "\x00", namespace, "\x00", name)
	if known, ok := f.asked[key]; ok {
		return known.object, known.err
	}
	object, err := f.metadata.Resource(m.Resource).Namespace(namespace).Get(f.Context(), name, metav1.GetOptions{})
	f.asked[key] = reply{object, err}
	return object, err
}

func namespaced(m *meta.RESTMapping) bool { return m.Scope.Name() == meta.RESTScopeNameNamespace }

func (f *expectedAudit) ruleOfUnresolvable(o *expectedObject, r metav1.OwnerReference) string {
	group := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).Group
	var version, kind, ofNamespace bool
	for _, list := range f.served {
		version = version || list.GroupVersion == r.APIVersion
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		f.must(err)
		for _, t := range list.APIResources {
			if gv.Group == group && t.Kind == r.Kind && !strings.Contains(t.Name, "/") {
				kind, ofNamespace = true, t.Namespaced
			}
		}
	}
	switch {
	case o.meta.Namespace == "" && ofNamespace:
		return "cluster-to-namespaced-owner"
	case kind, f.byUID[r.UID] != nil && !version:
		return "unserved-owner-version"
	}
	return "unknown-owner-kind"
}

func (f *expectedAudit) ruleOfDangling(o *expectedObject, r metav1.OwnerReference, otherThere bool) string {
	holder := f.byUID[r.UID]
	switch {
	case holder != nil && holder.meta.Namespace != "" && holder.meta.Namespace != o.meta.Namespace:
		return "cross-namespace-owner"
	case holder != nil:
		return "mismatched-owner"
	case otherThere:
		return "replaced-owner"
	}
	return "missing-owner"
}

// consequence returns the consequence of the i-th reference.
func (o *expectedObject) consequence(i int) string {
	has := func(verdicts ...string) bool {
		return slices.ContainsFunc(o.verdicts, func(j expectedVerdict) bool { return slices.Contains(verdicts, j.verdict) })
	}
	uid := o.meta.OwnerReferences[i].UID
	removable := o.hasDouble(uid, "unknown") || has("unknown") && o.hasDouble(uid, "dangling", "waiting") // references are removed by UID
	switch {
	case o.meta.DeletionTimestamp != nil, o.verdicts[i].verdict == "solid" && (!removable || has("unresolvable", "scope-error")):
		return "none"
	case has("unresolvable", "scope-error"):
		return "stuck"
	case has("unknown"):
		return "unknown"
	case has("solid"):
		return "unlink"
	}
	return "delete"
}

// hasDouble reports whether one of the references with a UID has one of these verdicts.
func (o *expectedObject) hasDouble(uid types.UID, verdicts ...string) bool {
	for i, r := range o.meta.OwnerReferences {
		if r.UID == uid && slices.Contains(verdicts, o.verdicts[i].verdict) {
			return true
		}
	}
	return false
}

// severity returns the severity of a consequence. A deletion because the owner is being deleted
// is expected, and therefore not an error.
func severity(verdict, consequence string) string {
	switch consequence {
	case "delete":
		if verdict == "waiting" {
			return "warning"
		}
		return "error"
	case "stuck":
		return "error"
	case "unlink", "unknown":
		return "warning"
	}
	return "info"
}

// findings returns all expected findings.
func (f *expectedAudit) findings() []finding {
	var out []finding
	for _, o := range f.objects {
		for i := range o.verdicts {
			out = append(out, f.referenceFindings(o, i)...)
		}
	}
	return append(out, f.cycles()...)
}

// referenceFindings returns all findings about one reference.
func (f *expectedAudit) referenceFindings(o *expectedObject, i int) []finding {
	r, j := o.meta.OwnerReferences[i], o.verdicts[i]
	plain := finding{
		Object: o.id, Verdict: j.verdict, Consequence: o.consequence(i), Severity: severity(j.verdict, o.consequence(i)),
		Reference: &ownerRef{r.APIVersion, r.Kind, r.Name, string(r.UID), isTrue(r.Controller), isTrue(r.BlockOwnerDeletion)},
	}
	var out []finding
	add := func(rule string, change func(*finding)) {
		found := plain
		found.Rule = rule
		if change != nil {
			change(&found)
		}
		out = append(out, found)
	}
	if j.rule != "" {
		add(j.rule, nil)
	}
	if string(r.UID) == o.id.UID {
		add("self-owner", func(found *finding) {
			if j.verdict == "solid" && o.meta.DeletionTimestamp == nil || o.foreground() && isTrue(r.BlockOwnerDeletion) {
				found.Consequence, found.Severity = "stuck", "error"
			}
		})
	}
	if f.isDuplicate(o, i) {
		add("duplicate-owner", func(found *finding) { // what happens to an object with an unverified reference stays unknown
			if f.removesValidReference(o, r.UID) || j.verdict == "solid" && found.Consequence == "none" && f.isOrphanedWithBad(o, r.UID) {
				found.Consequence, found.Severity = "unlink", "warning"
			}
		})
	}
	if f.isUnwatched(r) && (j.verdict == "solid" || j.verdict == "waiting") {
		add("unmonitored-owner", nil)
	}
	if f.isMisspelledKind(r) {
		add("misspelled-owner-kind", nil)
	}
	if preferred := f.preferredVersion(r); j.verdict == "solid" && preferred != r.APIVersion && !f.isMisspelledKind(r) {
		add("outdated-owner-version", nil)
	}
	return out
}

// foreground reports whether the object is in a foreground deletion.
func (o *expectedObject) foreground() bool {
	return o.meta.DeletionTimestamp != nil && slices.Contains(o.meta.Finalizers, metav1.FinalizerDeleteDependents)
}

func isTrue(b *bool) bool { return b != nil && *b }

// isDuplicate reports whether an earlier reference of the object has the same UID.
func (f *expectedAudit) isDuplicate(o *expectedObject, i int) bool {
	return slices.ContainsFunc(o.meta.OwnerReferences[:i], func(r metav1.OwnerReference) bool { return r.UID == o.meta.OwnerReferences[i].UID })
}

// removesValidReference reports whether removing an invalid reference also removes a valid
// one with the same UID, since the collector removes references by UID.
func (f *expectedAudit) removesValidReference(o *expectedObject, uid types.UID) bool {
	var dropped, held bool
	for i, r := range o.meta.OwnerReferences {
		if r.UID == uid {
			dropped = dropped || o.consequence(i) == "unlink"
			held = held || o.consequence(i) != "unlink"
		}
	}
	return dropped && held
}

// isOrphanedWithBad reports whether an owner orphans the object, and so removes a valid reference
// together with an invalid one with the same UID. What an object loses that is being deleted
// itself is of no consequence.
func (f *expectedAudit) isOrphanedWithBad(o *expectedObject, uid types.UID) bool {
	owner := f.byUID[uid]
	return o.meta.DeletionTimestamp == nil && owner != nil && owner.meta.DeletionTimestamp != nil && slices.Contains(owner.meta.Finalizers, metav1.FinalizerOrphanDependents) &&
		o.hasDouble(uid, "dangling", "waiting")
}

// isUnwatched reports whether a kind is served but not watched by the collector.
func (f *expectedAudit) isUnwatched(r metav1.OwnerReference) bool {
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	mapping, err := f.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err == nil && !f.watched[mapping.Resource.GroupResource()]
}

// preferredVersion returns the apiVersion that the server prefers for the kind of a reference.
func (f *expectedAudit) preferredVersion(r metav1.OwnerReference) string {
	mapping, err := f.mapper.RESTMapping(schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind())
	if err != nil {
		return r.APIVersion
	}
	return mapping.GroupVersionKind.GroupVersion().String()
}

// isMisspelledKind reports whether a kind maps although it is not served in that spelling.
func (f *expectedAudit) isMisspelledKind(r metav1.OwnerReference) bool {
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	if _, err := f.mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
		return false
	}
	for _, list := range f.served {
		if list.GroupVersion == r.APIVersion && slices.ContainsFunc(list.APIResources, func(t metav1.APIResource) bool { return t.Kind == r.Kind }) {
			return false
		}
	}
	return true
}

// cycles returns the sets of objects that reach each other through valid owners.
func (f *expectedAudit) cycles() []finding {
	reach := map[types.UID]map[types.UID]bool{}
	for _, o := range f.objects {
		if len(o.verdicts) > 0 {
			reach[o.meta.UID] = f.ancestors(o)
		}
	}
	var out []finding
	done := map[types.UID]bool{}
	for _, o := range f.objects {
		var members []*expectedObject
		for uid := range reach[o.meta.UID] {
			if reach[uid][o.meta.UID] {
				members = append(members, f.byUID[uid])
			}
		}
		if len(members) < 2 || done[o.meta.UID] {
			continue
		}
		found := finding{Rule: "owner-cycle", Severity: "error", Consequence: "stuck"}
		for _, m := range members {
			done[m.meta.UID] = true
			found.Members = append(found.Members, m.id)
			if m.meta.DeletionTimestamp != nil {
				found.Severity, found.Consequence = "warning", "none"
			}
		}
		if !slices.ContainsFunc(members, func(m *expectedObject) bool { return !waitsWithin(m, members) }) {
			found.Severity, found.Consequence = "error", "stuck"
		}
		slices.SortFunc(found.Members, func(a, b identity) int { return strings.Compare(sortKey(a), sortKey(b)) })
		found.Object = found.Members[0]
		out = append(out, found)
	}
	return out
}

// waitsWithin reports whether a foreground deletion of o waits for another member.
func waitsWithin(o *expectedObject, members []*expectedObject) bool {
	return o.foreground() && slices.ContainsFunc(members, func(m *expectedObject) bool {
		return m != o && slices.ContainsFunc(m.meta.OwnerReferences, func(r metav1.OwnerReference) bool {
			return r.UID == o.meta.UID && isTrue(r.BlockOwnerDeletion)
		})
	})
}

// ancestors returns the UIDs of all direct and indirect valid owners.
func (f *expectedAudit) ancestors(o *expectedObject) map[types.UID]bool {
	reached := map[types.UID]bool{}
	for next := []*expectedObject{o}; len(next) > 0; {
		o, next = next[0], next[1:]
		for i, j := range o.verdicts {
			owner := f.byUID[o.meta.OwnerReferences[i].UID]
			if (j.verdict == "solid" || j.verdict == "waiting") && owner != nil && !reached[owner.meta.UID] {
				reached[owner.meta.UID] = true
				next = append(next, owner)
			}
		}
	}
	return reached
}
