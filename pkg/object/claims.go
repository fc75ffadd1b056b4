package object

import "encoding/json"

// ClaimsOf returns an object's Claims from its spec and status: nil unless it is a Pod, a
// PersistentVolume or a VolumeAttachment, and empty for a Pod without a node and a malformed object.
func ClaimsOf(i Identity, spec, status json.RawMessage) []string {
	switch {
	case i.APIVersion == "v1" && i.Kind == "Pod":
		return mountedClaims(i.Name, spec)
	case i.APIVersion == "v1" && i.Kind == "PersistentVolume":
		return boundClaim(spec, status)
	case i.Kind == "VolumeAttachment" && i.GroupVersionKind().Group == "storage.k8s.io":
		return attachedVolume(spec)
	}
	return nil
}

func mountedClaims(podName string, rawSpec json.RawMessage) []string {
	var spec struct {
		NodeName string
		Volumes  []struct {
			Name                  string
			PersistentVolumeClaim *struct{ ClaimName string }
			Ephemeral             *struct{}
		}
	}
	out := []string{}
	if json.Unmarshal(rawSpec, &spec) != nil || spec.NodeName == "" {
		return out
	}
	for _, v := range spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil: // its claim is named after the Pod and the volume
			out = append(out, podName+"-"+v.Name)
		}
	}
	return out
}

func boundClaim(rawSpec, rawStatus json.RawMessage) []string {
	var status struct{ Phase string }
	var spec struct {
		ClaimRef *struct{ Namespace, Name string }
	}
	if json.Unmarshal(rawStatus, &status) != nil || json.Unmarshal(rawSpec, &spec) != nil || status.Phase != "Bound" || spec.ClaimRef == nil {
		return []string{}
	}
	return []string{spec.ClaimRef.Namespace + "/" + spec.ClaimRef.Name}
}

func attachedVolume(rawSpec json.RawMessage) []string {
	var spec struct {
		Source struct{ PersistentVolumeName string }
	}
	if json.Unmarshal(rawSpec, &spec) != nil || spec.Source.PersistentVolumeName == "" {
		return []string{}
	}
	return []string{spec.Source.PersistentVolumeName}
}
