package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// This file proves discovery. What a server forgets to name is never missed: its objects
// would count as not there, and a dependent that nobody listed blocks nothing. But every
// version of every group is announced by an APIService, and every custom type by its
// CustomResourceDefinition: what these announce and discovery lacks is a gap. Nothing
// announces the built-in types of a group, one by one.

// The two types that announce others. They are asked for whether or not discovery names
// them.
var (
	apiServices = snapshot.Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService"}
	definitions = snapshot.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition"}
)

// automanaged is the label that the API server puts on the APIServices of what it serves
// itself, built-in types and custom ones: of these no version is without types, while an
// aggregated API may have none just now (kube-aggregator, pkg/controllers/autoregister).
const automanaged = "kube-aggregator.kubernetes.io/automanaged"

// announcements are the lists of what announces types.
type announcements struct{ services, definitions client.ListResult }

// ListFor is the list that a job asks for, if it was among these and succeeded, else nil.
func (a *announcements) ListFor(j client.Query) *client.ListResult {
	if j.Namespace != "" || j.FieldSelector != "" {
		return nil
	}
	for of, list := range map[string]*client.ListResult{apiServices.Resource: &a.services, definitions.Resource: &a.definitions} {
		if j.Type.Resource == of && j.Type.Version == "v1" && (j.Type.Group == apiServices.Group || j.Type.Group == definitions.Group) && list.Err == nil {
			return list
		}
	}
	return nil
}

// catchUpPauses are the pauses before discovery is asked for again where something is
// announced that it lacks: it is some milliseconds behind a definition that was just made
// or deleted.
var catchUpPauses = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond}

// addUnannouncedGaps adds the gaps of what is announced and not named.
func addUnannouncedGaps(ctx context.Context, c *client.Client, w *Result) error {
	for of, list := range map[*snapshot.Type]*client.ListResult{&apiServices: &w.Announced.services, &definitions: &w.Announced.definitions} {
		if list.Err != nil && !w.needsNoGap(of, list.Err) {
			gap := snapshot.Gap{Group: of.Group, Resource: of.Resource}
			gap.Reason, gap.Message = client.Classify(list.Err)
			w.Gaps = append(w.Gaps, gap)
		}
	}
	typed := map[schema.GroupVersion]bool{}
	for _, t := range w.Types {
		typed[schema.GroupVersion{Group: t.Group, Version: t.Version}] = true
	}
	for _, o := range w.Announced.services.Objects {
		version, group, ok := strings.Cut(o.Name, ".")
		gv := schema.GroupVersion{Group: group, Version: version}
		known := w.versions[gv]
		if o.Labels[automanaged] != "" {
			known = typed[gv]
		}
		if ok && !known && !w.hasGroupGap(group) {
			w.Gaps = append(w.Gaps, snapshot.Gap{
				Group: group, Resource: snapshot.All, Reason: snapshot.Undiscovered,
				Message: fmt.Sprintf("discovery does not name %s, which APIService %s announces", gv, o.Name),
			})
		}
	}
	var missing []*object.Object
	for _, o := range w.Announced.definitions.Objects {
		if of, ok := definedBy(o); ok && !w.serves(of) && !w.hasGroupGap(of.Group) {
			missing = append(missing, o)
		}
	}
	gaps, err := client.InParallel(ctx, c.Options.Small, missing, func(o *object.Object) *snapshot.Gap { return unservedGap(ctx, c, o) })
	for _, gap := range gaps {
		if gap != nil {
			w.Gaps = append(w.Gaps, *gap)
		}
	}
	return err
}

// needsNoGap reports whether nothing can be, or has to be, proven by a list that failed. A
// server may lack the type. To a user who may not list it, a scan of the whole cluster
// has that as a gap, and one of a namespace cannot do better.
func (w *Result) needsNoGap(of *snapshot.Type, err error) bool {
	named := w.serves(of.GroupResource())
	switch client.ClassifyRequest(err) {
	case snapshot.Forbidden:
		return named
	case snapshot.Unverified: // 404
		return !named
	default:
		return false
	}
}

// definedBy is the type that a CustomResourceDefinition defines: it is named after it.
func definedBy(o *object.Object) (schema.GroupResource, bool) {
	resource, group, ok := strings.Cut(o.Name, ".")
	return schema.GroupResource{Group: group, Resource: resource}, ok
}

func (w *Result) serves(of schema.GroupResource) bool { return w.served[of] }

// hasGroupGap reports whether a group is a gap already.
func (w *Result) hasGroupGap(group string) bool {
	for _, g := range w.Gaps {
		if g.Resource == snapshot.All && (g.Group == group || g.Group == snapshot.All) {
			return true
		}
	}
	return false
}

// unservedGap is the gap that a definition leaves whose type discovery lacks; nil where the
// definition itself says that its type is not served.
func unservedGap(ctx context.Context, c *client.Client, o *object.Object) *snapshot.Gap {
	of, _ := definedBy(o)
	gap := &snapshot.Gap{
		Group: of.Group, Resource: of.Resource, Reason: snapshot.Undiscovered,
		Message: fmt.Sprintf("discovery does not name the type that CustomResourceDefinition %s announces", o.Name),
	}
	result, err := c.Do(ctx, func() *rest.Request { return c.Get(definitions, "", o.Name, client.AcceptWhole) })
	if err != nil {
		return gap
	}
	raw, err := result.Raw()
	if err != nil {
		return gap
	}
	found, err := client.ReadItem(raw, client.Query{Type: definitions, Name: o.Name}, false)
	var definition struct {
		Spec   struct{ Versions []struct{ Served *bool } }
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err != nil || found.UID != o.UID || json.Unmarshal(raw, &definition) != nil {
		return gap
	}
	for _, c := range definition.Status.Conditions {
		if c.Type == "Established" && c.Status == "False" {
			return nil // its names belong to another
		}
	}
	for _, v := range definition.Spec.Versions {
		if v.Served == nil || *v.Served {
			return gap
		}
	}
	return nil
}

// catchUp returns when discovery names all that is announced, or when it does not after
// some time.
func catchUp(ctx context.Context, c *client.Client, w *Result) (*Result, error) {
	for _, pause := range catchUpPauses {
		if !w.isStale() {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		now, err := discover(ctx, c, true)
		if err != nil {
			return nil, err
		}
		w = now
	}
	return w, nil
}

func (w *Result) isStale() bool {
	for _, g := range w.Gaps {
		if g.Reason == snapshot.Undiscovered {
			return true
		}
	}
	return false
}

// vanishedGaps notes what a world names, and returns gaps for the types that were named before
// and are not now, unless it is proven that they were taken away: a custom type whose
// definition is gone, or one of a group that no APIService announces.
func vanishedGaps(d *client.TypeHistory, w *Result) []snapshot.Gap {
	announcing, defines := map[string]bool{}, map[schema.GroupResource]bool{}
	for _, o := range w.Announced.services.Objects {
		_, group, _ := strings.Cut(o.Name, ".")
		announcing[group] = true
	}
	for _, o := range w.Announced.definitions.Objects {
		of, _ := definedBy(o)
		defines[of] = true
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if d.Types == nil {
		d.Types, d.Custom = map[schema.GroupResource]bool{}, map[schema.GroupResource]bool{}
	}
	var out []snapshot.Gap
	for of := range d.Types {
		switch {
		case w.serves(of), w.hasGroupGap(of.Group):
		case w.Announced.definitions.Err == nil && d.Custom[of] && !defines[of],
			w.Announced.services.Err == nil && !announcing[of.Group]:
			delete(d.Types, of)
		default:
			out = append(out, snapshot.Gap{
				Group: of.Group, Resource: of.Resource, Reason: snapshot.Undiscovered, Message: "discovery named it before, and does not now",
			})
		}
	}
	for _, t := range w.Types {
		if t.Monitored() {
			d.Types[t.GroupResource()] = true
		}
	}
	maps.Copy(d.Custom, defines)
	return out
}
