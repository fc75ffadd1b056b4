package object

import "encoding/json"

// ClaimsOf reads an object's Claims out of its spec and status: nil unless it is
// a Pod or a PersistentVolume. A Pod that no node runs keeps no claim. What is
// not of that shape within claims nothing.
func ClaimsOf(i Identity, spec, status json.RawMessage) []string {
	switch {
	case i.APIVersion == "v1" && i.Kind == "Pod":
		return mounted(i.Name, spec)
	case i.APIVersion == "v1" && i.Kind == "PersistentVolume":
		return bound(spec, status)
	}
	return nil
}

func mounted(pod string, spec json.RawMessage) []string {
	var of struct {
		NodeName string
		Volumes  []struct {
			Name                  string
			PersistentVolumeClaim *struct{ ClaimName string }
			Ephemeral             *struct{}
		}
	}
	out := []string{}
	if json.Unmarshal(spec, &of) != nil || of.NodeName == "" {
		return out
	}
	for _, v := range of.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil: // its claim is named after both
			out = append(out, pod+"-"+v.Name)
		}
	}
	return out
}

func bound(spec, status json.RawMessage) []string {
	var is struct{ Phase string }
	var of struct {
		ClaimRef *struct{ Namespace, Name string }
	}
	if json.Unmarshal(status, &is) != nil || json.Unmarshal(spec, &of) != nil || is.Phase != "Bound" || of.ClaimRef == nil {
		return []string{}
	}
	return []string{of.ClaimRef.Namespace + "/" + of.ClaimRef.Name}
}
