package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptrace"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strict "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// acceptServed asks for all groups with their types in one answer. A server before
// 1.30 knows no such answer, and names the groups only.
const acceptServed = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// served is what is known of the groups of one root: in each, the version that
// the server prefers comes first.
type served struct {
	groups []apidiscovery.APIGroupDiscovery
	failed map[schema.GroupVersion]error // versions that it did not tell of, which are not in groups
}

// staleGroupError says that the server which aggregates did not hear of a group lately.
type staleGroupError struct{ schema.GroupVersion }

func (e staleGroupError) Error() string { return "stale GroupVersion discovery: " + e.String() }

// The kinds of answers about a root, and about a version of a group.
const (
	kindServed    = "APIGroupDiscoveryList"
	kindVersions  = "APIVersions"
	kindGroups    = "APIGroupList"
	kindResources = "APIResourceList"
)

// named is an answer of any server about a root; the field of its kind is set, the others
// are nil.
type named struct {
	envelope
	Items    []apidiscovery.APIGroupDiscovery `json:"items"`    // APIGroupDiscoveryList
	Versions []string                         `json:"versions"` // APIVersions, of the group without a name
	Groups   []metav1.APIGroup                `json:"groups"`   // APIGroupList
}

// root is where a server says what it serves: of the core group, or of all others.
type root string

const (
	coreRoot  root = "/api"
	groupRoot root = "/apis"
)

// under asks for the groups of a root with their types.
func (c *Cluster) under(ctx context.Context, at root) (*served, error) {
	raw, err := c.raw(ctx, string(at), acceptServed)
	if err != nil {
		return nil, err
	}
	answer, err := readNamed(raw)
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
		return c.types(ctx, string(at), answer.Groups)
	}
	return withoutStale(answer.Items), nil
}

// raw asks for something that is no object.
func (c *Cluster) raw(ctx context.Context, path, accept string) ([]byte, error) {
	ctx = httptrace.WithClientTrace(ctx, c.link.timing())
	result, err := c.do(ctx, func() *rest.Request {
		return c.rest.Get().AbsPath(path).SetHeader("Accept", accept).MaxRetries(retryAfter)
	})
	if err != nil {
		return nil, err
	}
	return result.Raw()
}

// readNamed refuses what is no such answer: a document of another kind would be taken
// for one that names nothing, and no type of it would be missed.
func readNamed(raw []byte) (answer named, err error) {
	if !bytes.HasPrefix(raw, []byte(protobuf)) {
		if err := strict.Unmarshal(raw, &answer); err != nil {
			return answer, err
		}
		return answer, verifyDiscovery(answer.envelope, kindServed, kindVersions, kindGroups)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(raw[len(protobuf):]); err != nil {
		return answer, err
	}
	if err := verifyDiscovery(envelope{unknown.APIVersion, unknown.Kind}, kindServed); err != nil {
		return answer, err
	}
	var list apidiscovery.APIGroupDiscoveryList
	err = list.Unmarshal(unknown.Raw)
	return named{envelope: envelope{Kind: unknown.Kind}, Items: list.Items}, err
}

// withoutStale takes out the versions that the server did not hear of lately.
func withoutStale(groups []apidiscovery.APIGroupDiscovery) *served {
	out := &served{groups: groups, failed: map[schema.GroupVersion]error{}}
	for i, g := range groups {
		groups[i].Versions = slices.DeleteFunc(g.Versions, func(v apidiscovery.APIVersionDiscovery) bool {
			stale := v.Freshness == apidiscovery.DiscoveryFreshnessStale
			if stale {
				gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
				out.failed[gv] = staleGroupError{gv}
			}
			return stale
		})
	}
	return out
}

// types asks for the types of each version of the groups.
func (c *Cluster) types(ctx context.Context, root string, groups []metav1.APIGroup) (*served, error) {
	var versions []schema.GroupVersion
	for _, g := range groups {
		for _, v := range preferredFirst(g) {
			versions = append(versions, schema.GroupVersion{Group: g.Name, Version: v.Version})
		}
	}
	type answer struct {
		resources []apidiscovery.APIResourceDiscovery
		err       error
	}
	answers, err := inParallel(ctx, c.options.Small, versions, func(gv schema.GroupVersion) (a answer) {
		a.resources, a.err = c.resources(ctx, root, gv.String())
		return a
	})
	out := &served{failed: map[schema.GroupVersion]error{}}
	for i, gv := range versions {
		if last := len(out.groups) - 1; last < 0 || out.groups[last].Name != gv.Group {
			out.groups = append(out.groups, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: gv.Group}})
		}
		if answers[i].err != nil {
			out.failed[gv] = answers[i].err
			continue
		}
		g := &out.groups[len(out.groups)-1]
		g.Versions = append(g.Versions, apidiscovery.APIVersionDiscovery{Version: gv.Version, Resources: answers[i].resources})
	}
	return out, err
}

// resources asks for the types of one version of a group.
func (c *Cluster) resources(ctx context.Context, root, version string) ([]apidiscovery.APIResourceDiscovery, error) {
	raw, err := c.raw(ctx, root+"/"+version, runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	var list struct {
		envelope
		GroupVersion string               `json:"groupVersion"`
		Resources    []metav1.APIResource `json:"resources"`
	}
	if err := strict.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	if err := verifyDiscovery(list.envelope, kindResources); err != nil {
		return nil, err
	}
	if list.GroupVersion != version {
		return nil, notAsked("it is of %q, not of %q", list.GroupVersion, version)
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
	slices.SortStableFunc(versions, func(a, b metav1.GroupVersionForDiscovery) int {
		switch g.PreferredVersion.GroupVersion {
		case a.GroupVersion:
			return -1
		case b.GroupVersion:
			return 1
		}
		return 0
	})
	return versions
}
