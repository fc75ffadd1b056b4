package restore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Targets are what a look has to ask for by name, as its lists will not show it:
// owners of types that it does not list; and where it is to see one namespace only,
// that namespace, and the volumes of claims. What cannot be read of the backup is left out here, and named by Make.
func (b Backup) Targets(served []snapshot.Type, namespace string) []snapshot.Coordinates {
	mapper := snapshot.NewMapper(served)
	var out []snapshot.Coordinates
	asked := map[snapshot.Coordinates]bool{}
	ask := func(c snapshot.Coordinates) {
		m, ok := mapper.Map(c.APIVersion, c.Kind)
		listed := m.Type.Monitored() && (namespace == "" || m.Type.Namespaced)
		if !ok || !m.Served || listed || !snapshot.ValidName(c.Name) {
			return
		}
		if !m.Type.Namespaced {
			c.Namespace = ""
		}
		if !asked[c] {
			asked[c] = true
			out = append(out, c)
		}
	}
	for _, saved := range b.Saved {
		o := saved.Object
		if namespace != "" && o.Namespace != namespace {
			continue
		}
		if o.Namespace != "" {
			ask(snapshot.Coordinates{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace})
		}
		raw, err := b.Manifest(saved)
		if err != nil {
			continue
		}
		if m, err := parse(raw); err == nil {
			if o.Kind == "PersistentVolumeClaim" {
				ask(snapshot.Coordinates{APIVersion: "v1", Kind: "PersistentVolume", Name: m.text("spec", "volumeName")})
			}
			for _, r := range m.owners() {
				ask(snapshot.Coordinates{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: o.Namespace, Name: r.Name})
			}
		}
	}
	return out
}

// UnrecordedObjects are the objects that live where those of the backup did, and of which
// nobody noted that an earlier restoration made them: by the UID of then.
func (b Backup) UnrecordedObjects(seen *snapshot.Snapshot) map[types.UID]object.Identity {
	live := index(seen)
	out := map[types.UID]object.Identity{}
	for _, saved := range b.Saved {
		o := saved.Object
		m, ok := live.Map(o.APIVersion, o.Kind)
		if !ok {
			continue
		}
		if now := live.at[placeOf(m.Type, o)]; now != nil && now.UID != o.UID && now.UID != b.Made[o.UID] {
			out[o.UID] = now.Identity
		}
	}
	return out
}
