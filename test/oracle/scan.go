package oracle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// serverVersion is the release whose collector the other program runs.
const serverVersion = "v1.37.2"

// Scan returns what a complete scan of the scenario's cluster with all rights returns: every
// monitored type listed, and a lookup for every owner that no list proves (package
// pkg/cluster/scan). Objects of unmonitored types are in it only if a reference names them.
func Scan(s scenario.Scenario) *snapshot.Snapshot {
	out := &snapshot.Snapshot{Taken: scanned, Server: serverVersion}
	for _, t := range s.Types {
		out.Types = append(out.Types, snapshotTypes(t)...)
	}
	for _, t := range out.Types {
		switch class := listFault(s, t.GroupResource().String()); {
		case class != "":
			out.Gaps = append(out.Gaps, snapshot.Gap{Group: t.Group, Resource: t.Resource, Reason: class, Message: "the list failed"})
		case t.Monitored():
			out.Listed = append(out.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
		}
	}
	for _, group := range s.UnreachableGroups {
		out.Gaps = append(out.Gaps, snapshot.Gap{Group: group, Resource: snapshot.All, Reason: snapshot.Unavailable, Message: "the server is currently unable to handle the request"})
	}
	var listed snapshot.Deduper
	for i := range s.Objects {
		if t := typeOf(s.Types, &s.Objects[i]); monitored(t) && t.Kind != "" && listFault(s, groupResource(t)) == "" {
			listed.Add(scannedObject(&s.Objects[i]))
		}
	}
	out.Objects = listed.Objects()
	out.Answers = snapshot.Answers{}
	for _, r := range s.Refused {
		doubt := reason.AdmissionDoubt(r.Doubt)
		out.Answers[snapshot.Write{UID: r.UID, Operation: r.Operation}] = reason.AdmissionAnswer{
			Refused: doubt == "" || doubt == reason.RefusedForYou,
			Because: reason.RefusedByAdmission{Webhook: "guard", Update: r.Operation == "UPDATE", Doubt: doubt},
		}
	}
	lookUpOwners(out, s, &listed)
	out.Normalize()
	return out
}

// listFault returns why a type, as RESOURCE.GROUP, cannot be listed; empty if it can.
func listFault(s scenario.Scenario, gr string) snapshot.ErrorClass {
	switch {
	case slices.Contains(s.Faults.Unlisted, gr):
		return snapshot.Unavailable
	case slices.Contains(s.Faults.Unserved, gr):
		return snapshot.Vanished
	}
	return ""
}

func groupResource(t scenario.Type) string {
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}.String()
}

// snapshotTypes returns a type in all of its versions, as discovery serves it.
func snapshotTypes(t scenario.Type) []snapshot.Type {
	verbs := []string{"create", "delete", "get", "list", "patch", "update"}
	if !t.Unwatchable {
		verbs = append(verbs, "deletecollection", "watch")
	}
	preferred := snapshot.Type{
		Group: t.Group, Version: t.Version, Resource: t.Resource, Kind: t.Kind, Singular: strings.ToLower(t.Kind),
		Namespaced: t.Namespaced, Verbs: verbs, Preferred: true,
	}
	out := []snapshot.Type{preferred}
	for _, version := range t.OtherVersions {
		other := preferred
		other.Version, other.Preferred = version, false
		out = append(out, other)
	}
	return out
}

// scannedObject returns an object as a list shows it. The list of the Pods that a kubelet has
// to stop leaves out terminating ones.
func scannedObject(o *scenario.Object) *object.Object {
	out := object.FromMeta(o.APIVersion, o.Kind, &o.ObjectMeta, false)
	out.Running = o.Pod != nil && o.DeletionTimestamp == nil && o.Pod.Scheduled && !o.Pod.Finished
	return &out
}

// lookUpOwners adds the lookups of owners that are not listed, and of the owners of those.
func lookUpOwners(out *snapshot.Snapshot, s scenario.Scenario, listed *snapshot.Deduper) {
	found := map[types.UID]*object.Object{}
	known := func(uid types.UID) *object.Object {
		if o := listed.Object(uid); o != nil {
			return o
		}
		return found[uid]
	}
	for objects := out.Objects; len(objects) > 0; {
		view := snapshot.NewView(out)
		var fresh []*object.Object
		for _, at := range view.UnverifiedOwners(objects, known) {
			l := lookUp(view, s, at)
			if l.Object != nil && known(l.Object.UID) == nil {
				found[l.Object.UID] = l.Object
				fresh = append(fresh, l.Object)
			}
			out.Lookups = append(out.Lookups, l)
		}
		objects = fresh
	}
}

// lookUp returns what a GET at these coordinates finds. It finds a type in any served version,
// and returns the object in the preferred one.
func lookUp(view *snapshot.View, s scenario.Scenario, at snapshot.Coordinates) snapshot.Lookup {
	m, _ := view.Map(at.APIVersion, at.Kind)
	if slices.Contains(s.Faults.Unserved, m.Type.GroupResource().String()) {
		return snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed, Reason: snapshot.Unverified, Message: "the 404 names no object"}
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		t := typeOf(s.Types, o)
		if t.Group == m.Type.Group && t.Resource == m.Type.Resource && o.Namespace == at.Namespace && o.Name == at.Name {
			if slices.Contains(s.Faults.Misread, o.UID) {
				return snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed, Reason: snapshot.Unreadable, Message: "two answers have different UIDs"}
			}
			return snapshot.Lookup{Coordinates: at, Outcome: snapshot.Found, Object: lookedUpObject(o)}
		}
	}
	return snapshot.Lookup{Coordinates: at, Outcome: snapshot.Absent}
}

// lookedUpObject returns an object as a GET shows it. A scan asks only about listed Pods
// whether a kubelet has to stop them.
func lookedUpObject(o *scenario.Object) *object.Object {
	out := scannedObject(o)
	out.Running = false
	return out
}
