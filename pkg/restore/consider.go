package restore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// consider takes an object up, or returns why it is left alone.
func (m *maker) consider(saved Saved, untried, mended map[types.UID]bool) reason.Reason {
	o := saved.Object
	switch now := m.live.byUID[o.UID]; {
	case now == nil:
	case now.Terminating():
		return reason.StillTerminating{}
	case mended[o.UID]: // it was saved as it was to be changed
		return nil
	default:
		return reason.StillExists{}
	}
	t, why := m.typeOf(o)
	if why != nil {
		return why
	}
	s, read, err := m.subject(saved)
	if err != nil {
		return reason.ManifestUnreadable{Detail: err.Error()}
	}
	occupant := m.live.at[placeOf(t, o)]
	if occupant != nil {
		switch ours := m.backup.Made[o.UID] == occupant.UID; {
		case ours && occupant.Terminating():
			return reason.RestoredAndTerminating{}
		case ours:
			s.now, s.uid = occupant, occupant.UID
			m.take(s, read)
			return nil
		}
		return reason.NameTaken{Created: occupant.Created.UTC()}
	}
	if untried[o.UID] {
		return reason.NotDeletedByRun{}
	}
	if why := m.homeless(o); why != nil {
		return why
	}
	if read.text("metadata", "deletionTimestamp") != "" {
		return reason.WasTerminating{}
	}
	if s.kind.leave != nil {
		if why := s.kind.leave(read); why != nil {
			return why
		}
	}
	if why := m.replaced(s); why != nil {
		return why
	}
	m.take(s, read)
	return nil
}

// typeOf returns the type of an object, one that is served or will be, or why there is none.
func (m *maker) typeOf(o object.Identity) (t snapshot.Type, why reason.Reason) {
	for _, t := range m.types {
		if t.APIVersion() == o.APIVersion && t.Kind == o.Kind {
			return t, nil
		}
	}
	if mapped, ok := m.live.Map(o.APIVersion, o.Kind); ok && mapped.Served && mapped.Spelling == snapshot.Plain {
		return mapped.Type, nil
	}
	kind := o.GroupVersionKind()
	if gap := m.live.GroupGap(kind.Group); gap != nil {
		return t, reason.TypeUnverified{Gap: gap.Parameter()}
	}
	var served []string
	for _, t := range m.live.Versions(kind.Group, kind.Kind) {
		served = append(served, t.APIVersion())
	}
	return t, reason.TypeNotServed{APIVersion: o.APIVersion, Kind: o.Kind, ServedVersions: served}
}

// subject reads what matters of a manifest.
func (m *maker) subject(saved Saved) (*subject, manifest, error) {
	raw, err := m.backup.Manifest(saved)
	if err != nil {
		return nil, nil, err
	}
	read, err := parse(raw)
	if err != nil {
		return nil, nil, err
	}
	s := &subject{saved: saved, kind: kindOf(saved.Object), uid: saved.Object.UID, owners: read.owners()}
	if s.kind.needs != nil {
		s.needs = s.kind.needs(read)
	}
	return s, read, nil
}

// homeless returns what is wrong with the namespace of an object.
func (m *maker) homeless(o object.Identity) reason.Reason {
	if o.Namespace == "" || m.namespaces[o.Namespace] {
		return nil
	}
	switch now, absent := m.live.namespace(o.Namespace); {
	case absent:
		return reason.NamespaceMissing{}
	case now != nil && now.Terminating():
		return reason.NamespaceTerminating{}
	}
	return nil
}

// replaced returns, for a Pod, that a controller exists which creates its own.
func (m *maker) replaced(s *subject) reason.Reason {
	if rank(s.saved.Object) != lastRank {
		return nil
	}
	for _, r := range s.owners {
		if !r.Controls() || !adopting(r) {
			continue
		}
		mapped, at, ok := m.live.CoordinatesOf(s.saved.Object.Namespace, r)
		if !ok {
			continue
		}
		now := m.live.at[place{mapped.Type.Group, mapped.Type.Resource, at.Namespace, at.Name}]
		owner := m.of[r.UID]
		if mine := owner == nil || owner.now == now; mine && now != nil && !now.Terminating() { // else it is what has the UID, elsewhere
			return reason.ControllerCreatesPods{Controller: r.String()}
		}
	}
	return nil
}

// take takes an object up.
func (m *maker) take(s *subject, read manifest) {
	o := s.saved.Object
	m.of[o.UID] = s
	if o.IsDefinition() && !s.made() {
		s.types = defined(read)
		m.types = append(m.types, s.types...)
	}
	if rank(o) == 1 && !o.IsNamespace() {
		m.surroundings.volumes[o.Name] = made
	}
	if s.made() {
		m.before = append(m.before, s)
		return
	}
	s.lost = clean(read, s.kind, m.surroundings)
	m.making = append(m.making, s)
	if o.IsNamespace() {
		m.namespaces[o.Name] = true
	}
}
