package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// SavedRun is what a run backed up and did.
type SavedRun struct {
	Mode    plan.Mode      // of the run
	Saved   []event.Saved  // one per UID, sorted by identity
	Steps   []event.Step   // of the run, in the order of its plan
	Results []event.Record // how they ended; not every step is listed
	// Recreated maps the old UID of an object to the UID of what an earlier restoration of
	// this backup created. An entry counts only while an object with that UID exists
	// under the object's name.
	Recreated map[types.UID]types.UID
	// Manifest reads the manifest of a saved object. It is called twice for an
	// object that is created, and must return the same both times.
	Manifest func(event.Saved) (json.RawMessage, error)
}

// Objects returns the objects that the run backed up or changed, each once, sorted by identity.
func (b SavedRun) Objects() []object.Identity {
	var out []object.Identity
	for _, s := range b.Saved {
		out = append(out, s.Object)
	}
	for _, s := range b.Steps {
		out = append(out, s.Object)
	}
	slices.SortFunc(out, object.Identity.Compare)
	return slices.Compact(out)
}

// Namespace returns the namespace of all objects; empty if there is none that has them all.
func (b SavedRun) Namespace() string {
	all := b.Objects()
	if len(all) == 0 || slices.ContainsFunc(all, func(o object.Identity) bool { return o.Namespace != all[0].Namespace }) {
		return ""
	}
	return all[0].Namespace
}

// Options configure a restoration.
type Options struct {
	// Exact restores every reference unchanged, even one that makes the garbage
	// collector delete the object.
	Exact bool
	// Only limits what is created and linked; nil means everything.
	Only func(object.Identity) bool
}

// Targets returns what a scan must read by name because its lists do not show it:
// owners whose type is not listed, and, when the scan is limited to a namespace,
// that namespace and the volumes of claims. Unreadable manifests are skipped here
// and reported by New.
func (b SavedRun) Targets(served []snapshot.Type, namespace string) []snapshot.Coordinates {
	mapper := snapshot.NewMapper(served)
	var out []snapshot.Coordinates
	add := func(c snapshot.Coordinates) {
		m, ok := mapper.Map(c.APIVersion, c.Kind)
		listed := m.Type.Monitored() && (namespace == "" || m.Type.Namespaced)
		if !ok || !m.Served || listed || !snapshot.ValidName(c.Name) {
			return
		}
		if !m.Type.Namespaced {
			c.Namespace = ""
		}
		out = append(out, c)
	}
	for _, saved := range b.Saved {
		o := saved.Object
		if namespace != "" && o.Namespace != namespace {
			continue
		}
		if o.Namespace != "" {
			add(snapshot.Coordinates{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace})
		}
		m, err := b.parse(saved)
		if err != nil {
			continue
		}
		if o.Kind == "PersistentVolumeClaim" {
			add(snapshot.Coordinates{APIVersion: "v1", Kind: "PersistentVolume", Name: m.text("spec", "volumeName")})
		}
		for _, r := range m.owners() {
			add(snapshot.Coordinates{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: o.Namespace, Name: r.Name})
		}
	}
	return snapshot.UniqueCoordinates(out)
}

func (b SavedRun) parse(saved event.Saved) (manifest, error) {
	raw, err := b.Manifest(saved)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}

// UnrecordedObjects returns the objects that exist under the names of objects of
// the backup, if no earlier restoration recorded one for them, by the UID that
// the object in the backup had.
func (b SavedRun) UnrecordedObjects(seen *snapshot.Snapshot) map[types.UID]object.Identity {
	live := newLiveIndex(seen)
	out := map[types.UID]object.Identity{}
	for _, saved := range b.Saved {
		o := saved.Object
		m, ok := live.view.Map(o.APIVersion, o.Kind)
		if !ok {
			continue
		}
		if now := live.byAddress[m.Type.Address(o.Namespace, o.Name)]; now != nil && now.UID != o.UID && b.Recreated[o.UID] == "" {
			out[o.UID] = now.Identity
		}
	}
	return out
}
