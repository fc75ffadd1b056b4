package restore

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// consider takes an object up, or answers why it is left alone.
func (m *maker) consider(saved Saved, untried, mended map[types.UID]bool) (why string) {
	o := saved.Object
	switch now := m.live.byUID[o.UID]; {
	case now == nil:
	case now.Terminating():
		return "it is still being deleted: restore it when it is gone"
	case mended[o.UID]: // it was saved as it was to be changed
		return ""
	default:
		return "it is still there"
	}
	t, why := m.typeOf(o)
	if why != "" {
		return why
	}
	s, read, err := m.subject(saved)
	if err != nil {
		return "its manifest cannot be read: " + err.Error()
	}
	occupant := m.live.at[placeOf(t, o)]
	if occupant != nil {
		switch ours := m.backup.Made[o.UID] == occupant.UID; {
		case ours && occupant.Terminating():
			return "it was restored before, and is being deleted again"
		case ours:
			s.now, s.uid = occupant, occupant.UID
			m.take(s, read)
			return ""
		}
		return "another is there, made " + occupant.Created.UTC().Format("2006-01-02 15:04:05")
	}
	if untried[o.UID] {
		return "the run did not delete it"
	}
	if why := m.homeless(o); why != "" {
		return why
	}
	if read.text("metadata", "deletionTimestamp") != "" {
		return "it was being deleted already when it was saved"
	}
	if s.kind.leave != nil {
		if why := s.kind.leave(read); why != "" {
			return why
		}
	}
	if why := m.replaced(s); why != "" {
		return why
	}
	m.take(s, read)
	return ""
}

// typeOf is the type of an object, one that is served or will be.
func (m *maker) typeOf(o object.Identity) (t snapshot.Type, why string) {
	for _, t := range m.types {
		if t.APIVersion() == o.APIVersion && t.Kind == o.Kind {
			return t, ""
		}
	}
	if mapped, ok := m.live.Map(o.APIVersion, o.Kind); ok && mapped.Served && mapped.Spelling == snapshot.Plain {
		return mapped.Type, ""
	}
	kind := o.GroupVersionKind()
	if gap := m.live.GroupGap(kind.Group); gap != nil {
		return t, fmt.Sprintf("its type could not be asked for: %s (%s)", gap, gap.Reason)
	}
	var served []string
	for _, t := range m.live.Versions(kind.Group, kind.Kind) {
		served = append(served, t.APIVersion())
	}
	if len(served) > 0 {
		return t, fmt.Sprintf("%s %s is not served any more, only %s", o.APIVersion, o.Kind, strings.Join(served, ", "))
	}
	return t, fmt.Sprintf("%s %s is not served any more", o.APIVersion, o.Kind)
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

// homeless says what is wrong with the namespace of an object.
func (m *maker) homeless(o object.Identity) string {
	if o.Namespace == "" {
		return ""
	}
	if m.namespaces[o.Namespace] {
		return ""
	}
	switch now, absent := m.live.namespace(o.Namespace); {
	case absent:
		return "its namespace is not there: make that first"
	case now != nil && now.Terminating():
		return "its namespace is being deleted: restore it when that is gone, and made again"
	}
	return ""
}

// replaced says of a Pod that a controller is there which makes its own.
func (m *maker) replaced(s *subject) string {
	if rank(s.saved.Object) != lastRank {
		return ""
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
			return fmt.Sprintf("its controller %s is there, and makes the Pods that it needs", r)
		}
	}
	return ""
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
