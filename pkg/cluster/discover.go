package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// World is what discovery served: the types, the groups it could not tell of,
// and the server's version.
type World struct {
	Types  []snapshot.Type
	Gaps   []snapshot.Gap
	Server string
}

// Unreachable says that the server did not tell what it serves, so that there
// is no answer to give.
type Unreachable struct {
	Server string
	Err    error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no cluster answers at %s: %v", e.Server, e.Err)
}

func (e *Unreachable) Unwrap() error { return e.Err }

// Discover asks for every type in every version. Groups that fail become gaps;
// the error is an *Unreachable when nothing at all is known.
func (c *Cluster) Discover(ctx context.Context) (*World, error) {
	groups, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var failed *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &failed) || len(lists) == 0 {
		return nil, &Unreachable{Server: c.server, Err: orNothingServed(err)}
	}
	w := &World{Types: typesOf(groups, lists)}
	if failed != nil {
		w.Gaps = groupGaps(failed)
	}
	if info, err := c.discovery.ServerVersionWithContext(ctx); err == nil {
		w.Server = info.GitVersion
	}
	return w, ctx.Err()
}

func orNothingServed(err error) error {
	if err == nil {
		return errors.New("it serves no types")
	}
	return err
}

// typesOf flattens discovery and marks the preferred version of each resource:
// the group's preferred version where it has the resource, else the first in
// the group's order that does (discovery.ServerPreferredResources).
func typesOf(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []snapshot.Type {
	byVersion := make(map[string]*metav1.APIResourceList, len(lists))
	for _, l := range lists {
		byVersion[l.GroupVersion] = l
	}
	var out []snapshot.Type
	for _, g := range groups {
		chosen := map[string]bool{}
		for _, v := range preferredFirst(g) {
			list := byVersion[v.GroupVersion]
			if list == nil {
				continue
			}
			for _, r := range list.APIResources {
				if strings.Contains(r.Name, "/") || r.Kind == "" {
					continue
				}
				out = append(out, snapshot.Type{
					Group: g.Name, Version: v.Version, Resource: r.Name, Kind: r.Kind,
					Singular: r.SingularName, ShortNames: r.ShortNames, Categories: r.Categories,
					Namespaced: r.Namespaced, Verbs: r.Verbs, Preferred: !chosen[r.Name],
				})
				chosen[r.Name] = true
			}
		}
	}
	slices.SortFunc(out, snapshot.Type.Compare)
	return out
}

func preferredFirst(g *metav1.APIGroup) []metav1.GroupVersionForDiscovery {
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

// groupGaps names each group once, with the APIService behind the version that
// failed, since that is where an operator has to look.
func groupGaps(failed *discovery.ErrGroupDiscoveryFailed) []snapshot.Gap {
	versions := make([]schema.GroupVersion, 0, len(failed.Groups))
	for gv := range failed.Groups {
		versions = append(versions, gv)
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	var gaps []snapshot.Gap
	for _, gv := range versions {
		reason, message := classify(failed.Groups[gv])
		message = fmt.Sprintf("%s (APIService %s.%s)", message, gv.Version, gv.Group)
		if last := len(gaps) - 1; last >= 0 && gaps[last].Group == gv.Group {
			gaps[last].Message += "; " + message
			continue
		}
		gaps = append(gaps, snapshot.Gap{Group: gv.Group, Resource: snapshot.All, Reason: reason, Message: message})
	}
	return gaps
}
