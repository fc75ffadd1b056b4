package restore

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// surroundings are what the cleaning of a manifest may depend on: which
// PersistentVolumes there are, or will be.
type surroundings struct {
	volumes map[string]volume
	whole   bool // all that are there were seen
}

type volume int

const (
	unseen volume = iota // nobody knows
	gone
	there
	made // by this restoration, or by an earlier one
)

func (s *surroundings) volume(name string) volume {
	if v := s.volumes[name]; v != unseen || !s.whole {
		return v
	}
	return gone
}

// surroundingsOf is what a look shows of volumes.
func surroundingsOf(l *live, seen *snapshot.Snapshot) *surroundings {
	s := &surroundings{volumes: map[string]volume{}}
	if m, ok := l.Map("v1", "PersistentVolume"); ok {
		s.whole = l.Listed(m.Type.GroupResource(), "")
	}
	for _, asked := range seen.Lookups {
		if asked.APIVersion == "v1" && asked.Kind == "PersistentVolume" && asked.Outcome == snapshot.Absent {
			s.volumes[asked.Name] = gone
		}
	}
	for at := range l.at {
		if at.group == "" && at.resource == "persistentvolumes" {
			s.volumes[at.name] = there
		}
	}
	return s
}

// cleanVolume has a PersistentVolume keep the name of its claim and forget which
// one of that name it was. With the UID of a claim that is gone, the volume
// controller would take it for released, and delete what is on it where its
// reclaim policy says so.
func cleanVolume(m manifest, _ *surroundings) []reason.Reason {
	unprotected(m)
	m.drop("spec", "claimRef", "uid")
	m.drop("spec", "claimRef", "resourceVersion")
	m.drop("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	return []reason.Reason{reason.VolumeContentsNotRestored{}}
}

// cleanClaim has a PersistentVolumeClaim bound anew. It keeps the name of its
// volume only where there is one: a claim that names another waits for ever.
func cleanClaim(m manifest, s *surroundings) []reason.Reason {
	unprotected(m)
	for _, key := range []string{"bind-completed", "bound-by-controller"} {
		m.drop("metadata", "annotations", "pv.kubernetes.io/"+key)
	}
	m.drop("metadata", "annotations", "volume.kubernetes.io/selected-node")
	name := m.text("spec", "volumeName")
	if name == "" {
		return nil
	}
	switch s.volume(name) {
	case made:
		return nil // it names its claim, and no UID
	case unseen:
		return []reason.Reason{reason.ClaimVolumeUnverified{Volume: name}}
	case there:
		return []reason.Reason{reason.ClaimVolumeBound{Volume: name}}
	case gone:
	}
	m.drop("spec", "volumeName")
	return []reason.Reason{reason.ClaimsEmpty{}}
}
