package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// The rules themselves have a second implementation in pkg/audit. This test compares what they rest
// on: how the API server maps kinds, what it serves, and which objects there are.
func TestAuditJudgesReferencesLikeTheAPIServer(t *testing.T) {
	newScene(t)
	seen := map[string]bool{}
	all := graphs(t, 1, 2)
	for _, seed := range all {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			s := newScene(t)
			g := drawUnusual(seed, 170).build(s, 0)[0]
			want, full := s.expectedAudit(), s.tool().audit()
			for try := 0; try < 3 && full.Summary.Objects != want.objects; try++ {
				want, full = s.expectedAudit(), s.tool().audit() // the API server itself creates an object now and then
			}
			if diff := cmp.Diff(want.lines(), referenceLines(full.Findings)); diff != "" {
				t.Errorf("the API server (-) and the audit (+) differ:\n%s", diff)
			}
			if !full.Complete {
				t.Errorf("the scan was incomplete: %+v", full.Gaps)
			}
			if full.Summary.Objects != want.objects || full.Summary.References != want.references {
				t.Errorf("the audit scanned %+v, want %d objects with %d references", full.Summary, want.objects, want.references)
			}
			for _, ns := range g.namespaces {
				part := s.tool().audit("-n", ns)
				if diff := cmp.Diff(certainWithin(part, full.Findings, ns), certainWithin(part, part.Findings, ns)); diff != "" {
					t.Errorf("the audit of the cluster (-) and that of one namespace (+) differ:\n%s", diff)
				}
			}
			for _, f := range full.Findings {
				seen[f.Verdict], seen[f.Rule] = true, true
			}
		})
	}
	for _, what := range append([]string{"solid", "waiting", "dangling", "unresolvable", "scope-error", "unknown"}, mappingRules...) {
		if !seen[what] && !t.Failed() && len(all) > 1 {
			t.Errorf("the graphs have no reference that is %s", what)
		}
	}
}

// certainWithin returns the findings about objects of one namespace, one line each, without those
// that an audit of that namespace knows too little of: deletions that wait for objects elsewhere, and
// what it calls nondeterministic.
func certainWithin(part report, findings []finding, namespace string) []string {
	elsewhere := func(o identity) bool { return o.Namespace != namespace }
	key := func(f finding) string {
		if f.Reference == nil {
			return f.Object.UID + f.Rule
		}
		return fmt.Sprintf("%s %s %+v", f.Object.UID, f.Rule, *f.Reference)
	}
	unsure := map[string]bool{}
	for _, f := range part.Findings {
		unsure[key(f)] = unsure[key(f)] || f.Nondeterministic != nil
	}
	return findingLines(slices.DeleteFunc(slices.Clone(findings), func(f finding) bool {
		return elsewhere(f.Object) || unsure[key(f)] || f.Rule == "blocked-deletion" && slices.ContainsFunc(f.Members, elsewhere)
	}))
}

// mappingRules are the rules that depend on nothing but how the API server maps a kind.
var mappingRules = []string{"unmonitored-owner", "misspelled-owner-kind", "outdated-owner-version"}

// referenceLines returns the verdicts that are not solid, and the findings of mappingRules, by
// reference.
func referenceLines(findings []finding) []string {
	out := map[string]bool{}
	for _, f := range findings {
		if f.Reference == nil {
			continue
		}
		if line := fmt.Sprintf("%s -> %+v: ", f.Object, *f.Reference); slices.Contains(mappingRules, f.Rule) {
			out[line+f.Rule] = true
		} else if f.Verdict != "solid" {
			out[line+f.Verdict] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// expectedAudit judges every reference in the cluster as the collector does: with client-go's
// RESTMapper for kinds, and one GET for each owner.
type expectedAudit struct {
	*scene
	mapper  meta.RESTMapper
	served  []*metav1.APIResourceList
	watched map[schema.GroupResource]bool

	objects, references int
	found               map[string]bool
}

func (f *expectedAudit) lines() []string { return slices.Sorted(maps.Keys(f.found)) }

func (s *scene) expectedAudit() *expectedAudit {
	s.Helper()
	f := &expectedAudit{scene: s, watched: map[schema.GroupResource]bool{}, found: map[string]bool{}}
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
		if resource.Resource == "events" && (resource.Group == "" || resource.Group == "events.k8s.io") {
			delete(watched, resource)
			continue
		}
		f.watched[resource.GroupResource()] = true
	}
	for resource := range watched {
		kind, err := f.mapper.KindFor(resource)
		s.must(err)
		list, err := s.metadata.Resource(resource).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		f.objects += len(list.Items)
		for _, item := range list.Items {
			for _, r := range item.OwnerReferences {
				f.references++
				f.judge(identity{Kind: kind.Kind, Namespace: item.Namespace, Name: item.Name}, r)
			}
		}
	}
	return f
}

// judge implements the table of verdicts in docs/gc-semantics.md.
func (f *expectedAudit) judge(o identity, r metav1.OwnerReference) {
	f.Helper()
	add := func(what string) {
		f.found[fmt.Sprintf("%s -> %+v: %s", o, ownerRef{r.APIVersion, r.Kind, r.Name, string(r.UID), isTrue(r.Controller), isTrue(r.BlockOwnerDeletion)}, what)] = true
	}
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	m, err := f.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		add("unresolvable")
		return
	}
	misspelled := !slices.ContainsFunc(f.served, func(l *metav1.APIResourceList) bool {
		return l.GroupVersion == r.APIVersion && slices.ContainsFunc(l.APIResources, func(t metav1.APIResource) bool { return t.Kind == r.Kind })
	})
	if misspelled {
		add("misspelled-owner-kind")
	}
	namespaced := m.Scope.Name() == meta.RESTScopeNameNamespace
	switch {
	case o.Namespace == "" && namespaced:
		add("scope-error")
		return
	case len(content.IsPathSegmentName(r.Name)) > 0: // the program sends no request with such a path
		add("unknown")
		return
	}
	namespace := ""
	if namespaced {
		namespace = o.Namespace
	}
	owner, err := f.metadata.Resource(m.Resource).Namespace(namespace).Get(f.Context(), r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && owner.UID != r.UID:
		add("dangling")
		return
	case err != nil:
		add("unknown")
		return
	}
	if !f.watched[m.Resource.GroupResource()] {
		add("unmonitored-owner")
	}
	if owner.DeletionTimestamp != nil && slices.Contains(owner.Finalizers, metav1.FinalizerDeleteDependents) {
		add("waiting")
		return
	}
	preferred, err := f.mapper.RESTMapping(kind.GroupKind())
	if !misspelled && err == nil && preferred.GroupVersionKind.GroupVersion().String() != r.APIVersion {
		add("outdated-owner-version")
	}
}
