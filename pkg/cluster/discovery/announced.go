package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// This file finds types that discovery leaves out. Nobody would miss them: their objects would
// count as absent, and dependents that nobody listed block nothing. But an APIService announces
// every version of every group, and a CustomResourceDefinition every custom type. What they
// announce and discovery lacks is a gap. Nothing announces single built-in types.

// The types that announce others. They are listed even if discovery does not name them.
var (
	APIServices = snapshot.Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService"}
	Definitions = snapshot.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition"}
)

// automanaged is the label of APIServices for what the API server serves itself, built-in and
// custom. Their versions always have types, while an aggregated API may have none at the moment
// (kube-aggregator, pkg/controllers/autoregister).
const automanaged = "kube-aggregator.kubernetes.io/automanaged"

// Announcements returns the result of a query if discovery has sent it, for a type that announces others, and it
// succeeded; or nil.
func (result *Catalog) Announcements(j client.Query) *client.ListResult {
	if j.Namespace != "" || j.FieldSelector != "" {
		return nil
	}
	for of, list := range map[string]*client.ListResult{APIServices.Resource: &result.services, Definitions.Resource: &result.definitions} {
		if j.Type.Resource == of && j.Type.Version == "v1" && (j.Type.Group == APIServices.Group || j.Type.Group == Definitions.Group) && list.Err == nil {
			return list
		}
	}
	return nil
}

// catchUpPauses are the pauses before discovery is read again because it lacks a type that is
// announced. It lags some milliseconds behind a definition that was just created or deleted.
var catchUpPauses = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond}

// addUndiscoveredGaps adds gaps for what is announced but missing from discovery.
func addUndiscoveredGaps(ctx context.Context, c *client.Client, result *Catalog) error {
	for of, list := range map[*snapshot.Type]*client.ListResult{&APIServices: &result.services, &Definitions: &result.definitions} {
		if list.Err != nil && !result.needsNoGap(of, list.Err) {
			result.Gaps = append(result.Gaps, client.GapOf(client.Query{Type: *of}, list.Err))
		}
	}
	typed := map[schema.GroupVersion]bool{}
	for _, t := range result.Types {
		typed[schema.GroupVersion{Group: t.Group, Version: t.Version}] = true
	}
	for _, o := range result.services.Objects {
		version, group, ok := strings.Cut(o.Name, ".")
		gv := schema.GroupVersion{Group: group, Version: version}
		known := result.versions[gv]
		if o.Labels[automanaged] != "" {
			known = typed[gv]
		}
		if ok && !known && !result.hasGroupGap(group) {
			result.Gaps = append(result.Gaps, snapshot.Gap{
				Group: group, Resource: snapshot.All, Reason: snapshot.Undiscovered,
				Message: fmt.Sprintf("discovery does not name %s, which APIService %s announces", gv, o.Name),
			})
		}
	}
	var missing []*object.Object
	for _, o := range result.definitions.Objects {
		if of, ok := definedBy(o); ok && !result.Serves(of) && !result.hasGroupGap(of.Group) {
			missing = append(missing, o)
		}
	}
	gaps, err := client.InParallel(ctx, c.Config.SmallConcurrency, missing, func(o *object.Object) *snapshot.Gap { return unservedGap(ctx, c, o) })
	for _, gap := range gaps {
		if gap != nil {
			result.Gaps = append(result.Gaps, *gap)
		}
	}
	return err
}

// needsNoGap reports whether a failed list of announcements needs no gap of its own. A server may
// lack the type. If the user may not list it, a scan of the whole cluster records that gap
// anyway, and a scan of a namespace cannot do better.
func (result *Catalog) needsNoGap(of *snapshot.Type, err error) bool {
	named := result.Serves(of.GroupResource())
	switch client.ClassifyRequest(err) {
	case snapshot.Forbidden:
		return named
	case snapshot.Unverified: // 404
		return !named
	default:
		return false
	}
}

// definedBy returns the type that a CustomResourceDefinition defines, which is its name.
func definedBy(o *object.Object) (schema.GroupResource, bool) {
	resource, group, ok := strings.Cut(o.Name, ".")
	return schema.GroupResource{Group: group, Resource: resource}, ok
}

// Serves reports whether a type was discovered, in any version.
func (result *Catalog) Serves(of schema.GroupResource) bool { return result.served[of] }

// hasGroupGap reports whether the whole group is a gap already.
func (result *Catalog) hasGroupGap(group string) bool {
	return slices.ContainsFunc(result.Gaps, func(g snapshot.Gap) bool {
		return g.Resource == snapshot.All && (g.Group == group || g.Group == snapshot.All)
	})
}

// unservedGap returns a gap for a definition whose type discovery lacks, or nil if the definition
// itself says that the type is not served.
func unservedGap(ctx context.Context, c *client.Client, o *object.Object) *snapshot.Gap {
	of, _ := definedBy(o)
	gap := &snapshot.Gap{
		Group: of.Group, Resource: of.Resource, Reason: snapshot.Undiscovered,
		Message: fmt.Sprintf("discovery does not name the type that CustomResourceDefinition %s announces", o.Name),
	}
	var definition struct {
		Metadata struct{ UID types.UID }
		Spec     struct{ Versions []struct{ Served *bool } }
		Status   struct {
			Conditions []struct{ Type, Status string }
		}
	}
	err := client.GetWhole(ctx, c, client.Query{Type: Definitions, Name: o.Name}, &definition)
	if err != nil || definition.Metadata.UID != o.UID {
		return gap
	}
	for _, c := range definition.Status.Conditions {
		if c.Type == "Established" && c.Status == "False" {
			return nil // the names are used by another type
		}
	}
	for _, v := range definition.Spec.Versions {
		if v.Served == nil || *v.Served {
			return gap
		}
	}
	return nil
}

// vanishedGaps records the types in the history and returns gaps for types that were named before
// and are missing now. A type is proven to be removed, and so not a gap, if its
// CustomResourceDefinition is gone or no APIService announces its group.
func vanishedGaps(d *client.TypeHistory, result *Catalog) []snapshot.Gap {
	announcing, defines := map[string]bool{}, map[schema.GroupResource]bool{}
	for _, o := range result.services.Objects {
		_, group, _ := strings.Cut(o.Name, ".")
		announcing[group] = true
	}
	for _, o := range result.definitions.Objects {
		of, _ := definedBy(o)
		defines[of] = true
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	var out []snapshot.Gap
	for of := range d.Types {
		switch {
		case result.Serves(of), result.hasGroupGap(of.Group):
		case result.definitions.Err == nil && d.Custom[of] && !defines[of],
			result.services.Err == nil && !announcing[of.Group]:
			delete(d.Types, of)
		default:
			out = append(out, snapshot.Gap{
				Group: of.Group, Resource: of.Resource, Reason: snapshot.Undiscovered, Message: "discovery named it before, and does not now",
			})
		}
	}
	for _, t := range result.Types {
		if t.Monitored() {
			d.Types[t.GroupResource()] = true
		}
	}
	maps.Copy(d.Custom, defines)
	return out
}
