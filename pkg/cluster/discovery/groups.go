package discovery

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strict "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
)

// groupList holds the groups of one root. In each group the preferred version comes first.
type groupList struct {
	groups []apidiscovery.APIGroupDiscovery
	failed map[schema.GroupVersion]error // failed versions, which are not in groups
}

// The kinds of discovery documents.
const (
	kindGroupDiscovery = "APIGroupDiscoveryList"
	kindVersions       = "APIVersions"
	kindGroups         = "APIGroupList"
	kindResources      = "APIResourceList"
)

// rootDocument is any document about a root; only the field of its kind is set.
type rootDocument struct {
	metav1.TypeMeta
	Items    []apidiscovery.APIGroupDiscovery `json:"items"`    // APIGroupDiscoveryList
	Versions []string                         `json:"versions"` // APIVersions, of the core group
	Groups   []metav1.APIGroup                `json:"groups"`   // APIGroupList
}

// rootPath is the path of the core group or of all others.
type rootPath string

const (
	coreRoot  rootPath = "/api"
	groupRoot rootPath = "/apis"
)

// readRoot returns the groups of a root with their types.
func readRoot(ctx context.Context, c *client.Client, at rootPath) (*groupList, error) {
	raw, err := c.GetRaw(ctx, string(at), acceptDiscovery)
	if err != nil {
		return nil, err
	}
	answer, err := decodeRoot(raw)
	if err == nil {
		err = verifyGroups(answer, at)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at, err)
	}
	if len(answer.Versions) > 0 {
		legacy := metav1.APIGroup{}
		for _, v := range answer.Versions {
			legacy.Versions = append(legacy.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
		}
		answer.Groups = append(answer.Groups, legacy)
	}
	if len(answer.Groups) > 0 {
		return readVersions(ctx, c, string(at), answer.Groups)
	}
	return withoutStale(answer.Items), nil
}

// decodeRoot refuses documents of other kinds: they would count as discovery without types.
func decodeRoot(raw []byte) (answer rootDocument, err error) {
	if !bytes.HasPrefix(raw, []byte(client.ProtobufPrefix)) {
		if err := strict.Unmarshal(raw, &answer); err != nil {
			return answer, err
		}
		return answer, verifyDiscovery(answer.TypeMeta, kindGroupDiscovery, kindVersions, kindGroups)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(raw[len(client.ProtobufPrefix):]); err != nil {
		return answer, err
	}
	if err := verifyDiscovery(metav1.TypeMeta{APIVersion: unknown.APIVersion, Kind: unknown.Kind}, kindGroupDiscovery); err != nil {
		return answer, err
	}
	var list apidiscovery.APIGroupDiscoveryList
	err = list.Unmarshal(unknown.Raw)
	return rootDocument{TypeMeta: metav1.TypeMeta{Kind: unknown.Kind}, Items: list.Items}, err
}

// withoutStale removes the versions whose discovery is stale.
func withoutStale(groups []apidiscovery.APIGroupDiscovery) *groupList {
	out := &groupList{groups: groups, failed: map[schema.GroupVersion]error{}}
	for i, g := range groups {
		groups[i].Versions = slices.DeleteFunc(g.Versions, func(v apidiscovery.APIVersionDiscovery) bool {
			stale := v.Freshness == apidiscovery.DiscoveryFreshnessStale
			if stale {
				gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
				out.failed[gv] = client.StaleGroupError{GroupVersion: gv}
			}
			return stale
		})
	}
	return out
}

// readVersions reads the types of each version of the groups.
func readVersions(ctx context.Context, c *client.Client, root string, groups []metav1.APIGroup) (*groupList, error) {
	var versions []schema.GroupVersion
	for _, g := range groups {
		for _, v := range preferredFirst(g) {
			versions = append(versions, schema.GroupVersion{Group: g.Name, Version: v.Version})
		}
	}
	type answer struct {
		resources []apidiscovery.APIResourceDiscovery
		Err       error
	}
	answers, err := client.InParallel(ctx, c.Config.SmallConcurrency, versions, func(gv schema.GroupVersion) (a answer) {
		a.resources, a.Err = readResources(ctx, c, root, gv.String())
		return a
	})
	out := &groupList{failed: map[schema.GroupVersion]error{}}
	for i, gv := range versions {
		if last := len(out.groups) - 1; last < 0 || out.groups[last].Name != gv.Group {
			out.groups = append(out.groups, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: gv.Group}})
		}
		if answers[i].Err != nil {
			out.failed[gv] = answers[i].Err
			continue
		}
		g := &out.groups[len(out.groups)-1]
		g.Versions = append(g.Versions, apidiscovery.APIVersionDiscovery{Version: gv.Version, Resources: answers[i].resources})
	}
	return out, err
}

// readResources reads the types of one version of a group.
func readResources(ctx context.Context, c *client.Client, root, version string) ([]apidiscovery.APIResourceDiscovery, error) {
	raw, err := c.GetRaw(ctx, root+"/"+version, runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	var list struct {
		metav1.TypeMeta
		GroupVersion string               `json:"groupVersion"`
		Resources    []metav1.APIResource `json:"resources"`
	}
	if err := strict.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	if err := verifyDiscovery(list.TypeMeta, kindResources); err != nil {
		return nil, err
	}
	if list.GroupVersion != version {
		return nil, client.NewAnswerError("it is of %q, not of %q", list.GroupVersion, version)
	}
	var out []apidiscovery.APIResourceDiscovery
	for _, r := range list.Resources {
		if strings.Contains(r.Name, "/") { // a subresource
			continue
		}
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		out = append(out, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, ResponseKind: &metav1.GroupVersionKind{Kind: r.Kind}, Scope: scope, SingularResource: r.SingularName,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		})
	}
	return out, nil
}

func preferredFirst(g metav1.APIGroup) []metav1.GroupVersionForDiscovery {
	versions := slices.Clone(g.Versions)
	rank := func(v metav1.GroupVersionForDiscovery) int {
		if v.GroupVersion == g.PreferredVersion.GroupVersion {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(versions, func(a, b metav1.GroupVersionForDiscovery) int { return rank(a) - rank(b) })
	return versions
}

// verifyDiscovery returns an error unless a document has one of the kinds. Servers before 1.30
// omit the apiVersion.
func verifyDiscovery(got metav1.TypeMeta, kinds ...string) error {
	versions := []string{"", "v1"}
	if got.Kind == kindGroupDiscovery {
		versions = []string{"", "apidiscovery.k8s.io/v2"}
	}
	if slices.Contains(kinds, got.Kind) && slices.Contains(versions, got.APIVersion) {
		return nil
	}
	return client.NewAnswerError("it is of %s, not of kind %s", client.DescribeKind(got), strings.Join(kinds, " or "))
}

// verifyGroups returns an error unless the groups of a document fit the root: only the core group
// has no name. There must be at least one group.
func verifyGroups(answer rootDocument, at rootPath) error {
	if len(answer.Items)+len(answer.Versions)+len(answer.Groups) == 0 {
		return client.NewAnswerError("it names no API group")
	}
	for _, g := range answer.Items {
		if (g.Name == "") != (at == coreRoot) {
			return client.NewAnswerError("it names the API group %q", g.Name)
		}
	}
	for _, g := range answer.Groups {
		if g.Name == "" || at == coreRoot {
			return client.NewAnswerError("it names the API group %q", g.Name)
		}
	}
	if len(answer.Versions) > 0 && at != coreRoot {
		return client.NewAnswerError("it names versions of the core group")
	}
	return nil
}

// acceptDiscovery asks for all groups and types in one document. Servers before 1.30 return only
// the names of the groups.
const acceptDiscovery = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
