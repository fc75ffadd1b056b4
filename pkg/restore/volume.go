package restore

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// volumeContext is which PersistentVolumes exist or will exist. How a claim is
// cleaned depends on it.
type volumeContext struct {
	states   map[string]volumeState
	complete bool // every existing volume was listed
}

type volumeState int

const (
	volumeUnknown volumeState = iota
	volumeAbsent
	volumeExists
	volumeRecreated // by this restoration or an earlier one
)

func (v *volumeContext) state(name string) volumeState {
	if s := v.states[name]; s != volumeUnknown || !v.complete {
		return s
	}
	return volumeAbsent
}

func newVolumeContext(l *liveIndex, seen *snapshot.Snapshot) *volumeContext {
	v := &volumeContext{states: map[string]volumeState{}}
	if m, ok := l.view.Map("v1", "PersistentVolume"); ok {
		v.complete = l.view.Listed(m.Type.GroupResource(), "")
	}
	for _, lookup := range seen.Lookups {
		if lookup.APIVersion == "v1" && lookup.Kind == "PersistentVolume" && lookup.Outcome == snapshot.Absent {
			v.states[lookup.Name] = volumeAbsent
		}
	}
	for at := range l.byLocation {
		if at.group == "" && at.resource == "persistentvolumes" {
			v.states[at.name] = volumeExists
		}
	}
	return v
}

// cleanVolume keeps the name of the claim in a PersistentVolume and removes its UID.
// With the UID of a deleted claim, the volume controller would treat the volume as
// released, and delete its contents if the reclaim policy says so.
func cleanVolume(m manifest, _ *volumeContext) []reason.Reason {
	removeProtection(m)
	m.drop("spec", "claimRef", "uid")
	m.drop("spec", "claimRef", "resourceVersion")
	m.drop("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	return []reason.Reason{reason.VolumeContentsNotRestored}
}

// cleanClaim makes the volume controller bind a PersistentVolumeClaim again. It
// removes the name of a volume that does not exist: the claim would wait for it
// forever.
func cleanClaim(m manifest, v *volumeContext) []reason.Reason {
	removeProtection(m)
	for _, key := range []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"} {
		m.drop("metadata", "annotations", key)
	}
	name := m.text("spec", "volumeName")
	if name == "" {
		return nil
	}
	switch v.state(name) {
	case volumeRecreated:
		return nil // its claimRef has no UID
	case volumeUnknown:
		return []reason.Reason{reason.ClaimVolumeUnverified{Volume: name}}
	case volumeExists:
		return []reason.Reason{reason.ClaimVolumeBound{Volume: name}}
	case volumeAbsent:
	}
	m.drop("spec", "volumeName")
	return []reason.Reason{reason.ClaimsEmpty}
}
