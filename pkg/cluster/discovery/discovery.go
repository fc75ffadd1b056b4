// Package discovery finds out which types a server serves. Groups that fail, and types that are
// announced but missing from discovery, become gaps.
package discovery

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Catalog holds the discovered types, gaps for groups that failed, and the server's version.
type Catalog struct {
	Types  []snapshot.Type  // sorted; shared with snapshots, so never changed
	Mapper *snapshot.Mapper // of the types
	Gaps   []snapshot.Gap
	Server string

	versions map[schema.GroupVersion]bool // including versions without types
	served   map[schema.GroupResource]bool
	// These are the lists of the types that announce others.
	services, definitions client.ListResult
}

// UnreachableError reports that discovery failed entirely.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	cause := e.Err
	if of, ok := errors.AsType[*url.Error](cause); ok { // it repeats the URL
		cause = of.Err
	}
	switch {
	case e.LoggedOut():
		return fmt.Sprintf("you are not logged in to %s: %v", e.Server, cause)
	case e.Refused():
		return fmt.Sprintf("you are not allowed to ask %s which types it serves: %v", e.Server, cause)
	case e.Untrusted():
		return fmt.Sprintf("%s answers with a certificate that is not trusted: %v", e.Server, cause)
	case e.Answered():
		return fmt.Sprintf("%s answers, but not as an API server does: %v", e.Server, cause)
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Sprintf("no cluster answers at %s in time", e.Server)
	}
	return fmt.Sprintf("no cluster answers at %s: %v", e.Server, cause)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// LoggedOut reports whether the server does not accept the user's credentials.
func (e *UnreachableError) LoggedOut() bool { return apierrors.IsUnauthorized(e.Err) }

// Untrusted reports whether the server answered with a certificate that could not be verified.
func (e *UnreachableError) Untrusted() bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](e.Err)
	return untrusted
}

// Answered reports whether a server answered with an error, although perhaps not an API server.
func (e *UnreachableError) Answered() bool {
	var status apierrors.APIStatus
	return errors.As(e.Err, &status)
}

// Refused reports whether the server answered but forbids discovery to this user.
func (e *UnreachableError) Refused() bool { return client.ClassifyRequest(e.Err) == snapshot.Forbidden }

// Reason returns the error class.
func (e *UnreachableError) Reason() snapshot.ErrorClass {
	reason, _ := client.Classify(e.Err)
	return reason
}

// Discover returns all types in all versions. Groups that fail are gaps, and so is what discovery
// lacks although an APIService or CustomResourceDefinition announces it or an earlier call found
// it. If nothing is known, the error is an *UnreachableError.
func Discover(ctx context.Context, c *client.Client) (*Catalog, error) {
	result, err := discover(ctx, c, true)
	if err == nil && len(result.Gaps) > 0 && ctx.Err() == nil {
		result, err = discover(ctx, c, true) // a group that was just removed fails once, as in client-go
	}
	isUndiscovered := func(g snapshot.Gap) bool { return g.Reason == snapshot.Undiscovered }
	for _, pause := range catchUpPauses {
		if err != nil || !slices.ContainsFunc(result.Gaps, isUndiscovered) {
			break
		}
		if err = client.Wait(ctx, pause); err == nil {
			result, err = discover(ctx, c, true)
		}
	}
	if result, err = orUnreachable(ctx, c, result, err); err == nil {
		result.Gaps = append(result.Gaps, vanishedGaps(c.DiscoveredTypes, result)...)
	}
	return result, err
}

// Types returns all types with fewer requests than Discover. A missing type proves nothing.
func Types(ctx context.Context, c *client.Client) ([]snapshot.Type, error) {
	result, err := discover(ctx, c, false)
	if result, err = orUnreachable(ctx, c, result, err); err != nil {
		return nil, err
	}
	return result.Types, nil
}

func orUnreachable(ctx context.Context, c *client.Client, result *Catalog, err error) (*Catalog, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &UnreachableError{Server: c.Server, Err: err}
	}
	return result, nil
}

// discover reads /api and /apis. If one of them fails, its groups are gaps. withAnnounced also
// adds gaps for what is announced but missing.
func discover(ctx context.Context, c *client.Client, withAnnounced bool) (*Catalog, error) {
	result := &Catalog{versions: map[schema.GroupVersion]bool{}}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	// Alone, so that the other requests share its connection instead of opening their own.
	core, coreErr := readRoot(httptrace.WithClientTrace(ctx, trace), c, coreRoot)
	if coreErr != nil && !connected.Load() {
		return nil, coreErr
	}
	var others *groupList
	var othersErr error
	var all sync.WaitGroup
	all.Go(func() { others, othersErr = readRoot(ctx, c, groupRoot) })
	all.Go(func() { result.Server = serverVersion(ctx, c) })
	if withAnnounced {
		all.Go(func() { result.services = c.List(ctx, client.Query{Type: APIServices}, true) })
		all.Go(func() { result.definitions = c.List(ctx, client.Query{Type: Definitions}, true) })
	}
	all.Wait()
	if coreErr != nil && othersErr != nil {
		return nil, coreErr
	}
	failed := map[schema.GroupVersion]error{}
	for _, of := range []*groupList{core, others} {
		if of != nil {
			result.Types = append(result.Types, typesOf(of.groups)...)
			maps.Copy(failed, of.failed)
			for _, g := range of.groups {
				for _, v := range g.Versions {
					result.versions[schema.GroupVersion{Group: g.Name, Version: v.Version}] = true
				}
			}
		}
	}
	result.Gaps = groupGaps(failed)
	if coreErr != nil {
		result.Gaps = append(result.Gaps, client.GapOf(client.Query{Type: snapshot.Type{Resource: snapshot.All}}, coreErr))
	}
	if othersErr != nil {
		all := snapshot.Type{Group: snapshot.All, Resource: snapshot.All}
		result.Gaps = append(result.Gaps, client.GapOf(client.Query{Type: all}, othersErr))
	}
	slices.SortFunc(result.Types, snapshot.Type.Compare)
	result.Mapper = snapshot.NewMapper(result.Types)
	result.served = make(map[schema.GroupResource]bool, len(result.Types))
	for _, t := range result.Types {
		result.served[t.GroupResource()] = true
	}
	if len(result.Types) == 0 {
		return nil, errors.New("it serves no types")
	}
	if !withAnnounced {
		return result, nil
	}
	return result, addUndiscoveredGaps(ctx, c, result)
}

// serverVersion returns the server's version, or an empty string if it is unknown.
func serverVersion(ctx context.Context, c *client.Client) string {
	raw, err := c.GetRaw(ctx, "/version", runtime.ContentTypeJSON)
	var info version.Info
	if err != nil || json.Unmarshal(raw, &info) != nil {
		return ""
	}
	return info.GitVersion
}

// typesOf returns the types of all groups and marks the preferred version of each: the group's
// preferred version if it has the type, otherwise the first that does
// (discovery.ServerPreferredResources).
func typesOf(groups []apidiscovery.APIGroupDiscovery) []snapshot.Type {
	var out []snapshot.Type
	for _, g := range groups {
		chosen := map[string]bool{}
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
					continue
				}
				out = append(out, snapshot.Type{
					Group: g.Name, Version: v.Version, Resource: r.Resource, Kind: r.ResponseKind.Kind,
					Singular: r.SingularResource, ShortNames: r.ShortNames, Categories: r.Categories,
					Namespaced: r.Scope == apidiscovery.ScopeNamespace, Verbs: r.Verbs, Preferred: !chosen[r.Resource],
				})
				chosen[r.Resource] = true
			}
		}
	}
	return out
}

// groupGaps returns one gap per group. It names the APIService of the failed version, since that
// is where an operator has to look.
func groupGaps(failed map[schema.GroupVersion]error) []snapshot.Gap {
	versions := slices.Collect(maps.Keys(failed))
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) })
	var gaps []snapshot.Gap
	for _, gv := range versions {
		reason, message := client.Classify(failed[gv])
		message = fmt.Sprintf("%s (APIService %s.%s)", message, gv.Version, gv.Group)
		if last := len(gaps) - 1; last >= 0 && gaps[last].Group == gv.Group {
			gaps[last].Message += "; " + message
			continue
		}
		gaps = append(gaps, snapshot.Gap{Group: gv.Group, Resource: snapshot.All, Reason: reason, Message: message})
	}
	return gaps
}
