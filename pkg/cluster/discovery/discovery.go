package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Result is what discovery served: the types, the groups it could not tell of,
// and the server's version.
type Result struct {
	Types  []snapshot.Type
	Gaps   []snapshot.Gap
	Server string

	versions  map[schema.GroupVersion]bool // what discovery names, also where it has no types
	served    map[schema.GroupResource]bool
	Announced announcements
}

// UnreachableError says that the server did not tell what it serves, so that there
// is no answer to give.
type UnreachableError struct {
	Server string
	Err    error
}

func (e *UnreachableError) Error() string {
	if e.Refused() {
		return fmt.Sprintf("the server at %s does not tell you what it serves: %v", e.Server, e.Err)
	}
	return fmt.Sprintf("no cluster answers at %s: %v", e.Server, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Refused says that the server is there, and lets this user not even ask.
func (e *UnreachableError) Refused() bool { return client.ClassifyRequest(e.Err) == snapshot.Forbidden }

// Reason classes what stood in the way.
func (e *UnreachableError) Reason() snapshot.ErrorClass {
	reason, _ := client.Classify(e.Err)
	return reason
}

// Discover asks for every type in every version. Groups that fail become gaps, and so
// does what an APIService or a CustomResourceDefinition announces, or an earlier Discover
// found, and discovery lacks;
// the error is an *Unreachable when nothing at all is known.
func Discover(ctx context.Context, c *client.Client) (*Result, error) {
	w, err := discover(ctx, c, true)
	if err == nil && len(w.Gaps) > 0 && ctx.Err() == nil {
		w, err = discover(ctx, c, true) // a group that was just removed fails once, as client-go knows
	}
	if err == nil {
		w, err = catchUp(ctx, c, w)
	}
	if w, err = orUnreachable(ctx, c, w, err); err == nil {
		w.Gaps = append(w.Gaps, vanishedGaps(c.DiscoveredTypes, w)...)
	}
	return w, err
}

// Types asks for every type as Discover does, in fewer requests: nothing may be concluded
// from what it does not name.
func Types(ctx context.Context, c *client.Client) ([]snapshot.Type, error) {
	w, err := discover(ctx, c, false)
	if w, err = orUnreachable(ctx, c, w, err); err != nil {
		return nil, err
	}
	return w.Types, nil
}

func orUnreachable(ctx context.Context, c *client.Client, w *Result, err error) (*Result, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &UnreachableError{Server: c.Server, Err: err}
	}
	return w, nil
}

// discover asks both roots. One that does not answer as it should is a gap: the core group,
// or all others. With prove, so is what is announced and not named.
func discover(ctx context.Context, c *client.Client, prove bool) (*Result, error) {
	w := &Result{versions: map[schema.GroupVersion]bool{}}
	var core, others *groupList
	var coreErr, othersErr error
	rest := []func(){
		func() { others, othersErr = readRoot(ctx, c, groupRoot) },
		func() { w.Server = serverVersion(ctx, c) },
	}
	if prove {
		rest = append(rest,
			func() { w.Announced.services = c.List(ctx, client.Query{Type: apiServices}, true) },
			func() { w.Announced.definitions = c.List(ctx, client.Query{Type: definitions}, true) })
	}
	err := afterConnecting(ctx, func(ctx context.Context) error {
		core, coreErr = readRoot(ctx, c, coreRoot)
		return coreErr
	}, rest...)
	switch {
	case err != nil && others == nil && othersErr == nil: // without a connection nothing else was asked
		return nil, err
	case coreErr != nil && othersErr != nil:
		return nil, coreErr
	}
	failed := map[schema.GroupVersion]error{}
	for _, of := range []*groupList{core, others} {
		if of != nil {
			w.Types = append(w.Types, typesOf(of.groups)...)
			maps.Copy(failed, of.failed)
			for _, g := range of.groups {
				for _, v := range g.Versions {
					w.versions[schema.GroupVersion{Group: g.Name, Version: v.Version}] = true
				}
			}
		}
	}
	w.Gaps = groupGaps(failed)
	if coreErr != nil {
		w.Gaps = append(w.Gaps, rootGap("", coreErr))
	}
	if othersErr != nil {
		w.Gaps = append(w.Gaps, rootGap(snapshot.All, othersErr))
	}
	slices.SortFunc(w.Types, snapshot.Type.Compare)
	w.served = make(map[schema.GroupResource]bool, len(w.Types))
	for _, t := range w.Types {
		w.served[t.GroupResource()] = true
	}
	if len(w.Types) == 0 {
		return nil, errors.New("it serves no types")
	}
	if !prove {
		return w, nil
	}
	return w, addUnannouncedGaps(ctx, c, w)
}

// rootGap is of all groups of a root.
func rootGap(group string, err error) snapshot.Gap {
	reason, message := client.Classify(err)
	return snapshot.Gap{Group: group, Resource: snapshot.All, Reason: reason, Message: message}
}

// afterConnecting asks first, and the rest once there is a connection that they can
// share: else each would shake hands with the server for itself. The error is
// first's; when there is no connection, the rest is not asked.
func afterConnecting(ctx context.Context, first func(context.Context) error, rest ...func()) (err error) {
	connected, ended := make(chan struct{}), make(chan struct{})
	connect := sync.OnceFunc(func() { close(connected) })
	go func() {
		defer close(ended)
		err = first(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connect() }}))
	}()
	select {
	case <-connected:
	case <-ended:
		select {
		case <-connected: // and answered as quickly
		default:
			if err != nil {
				return err
			}
		}
	}
	var all sync.WaitGroup
	for _, ask := range rest {
		all.Go(ask)
	}
	all.Wait()
	<-ended
	return err
}

// serverVersion is the server's, or empty where it does not tell.
func serverVersion(ctx context.Context, c *client.Client) string {
	raw, err := c.GetRaw(ctx, "/version", runtime.ContentTypeJSON)
	var info version.Info
	if err != nil || json.Unmarshal(raw, &info) != nil {
		return ""
	}
	return info.GitVersion
}

// typesOf flattens discovery and marks the preferred version of each resource:
// the group's preferred version where it has the resource, else the first in
// the group's order that does (discovery.ServerPreferredResources).
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

// groupGaps names each group once, with the APIService behind the version that
// failed, since that is where an operator has to look.
func groupGaps(failed map[schema.GroupVersion]error) []snapshot.Gap {
	versions := slices.SortedFunc(maps.Keys(failed), func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
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
