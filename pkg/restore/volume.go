package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// volumeContext is which PersistentVolumes exist or will exist. How a claim is
// cleaned depends on it.
type volumeContext struct {
	live      *liveIndex
	recreated map[string]bool // by this restoration or an earlier one
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
	if name == "" || v.recreated[name] { // the claimRef of a recreated volume has no UID
		return nil
	}
	switch volume, absent := v.live.find("PersistentVolume", name); {
	case volume != nil:
		return []reason.Reason{reason.ClaimVolumeBound{Volume: name}}
	case !absent:
		return []reason.Reason{reason.ClaimVolumeUnverified{Volume: name}}
	}
	m.drop("spec", "volumeName")
	return []reason.Reason{reason.ClaimsEmpty}
}
