package reason

import "fmt"

// What weakens a prediction as a whole.
type (
	// VersionAssumed means that the version of the server is unknown, newer or older than what this
	// program knows, so that it predicts the server as if it were the newest or the oldest release that
	// it knows.
	VersionAssumed struct {
		Server string `json:"server,omitempty"` // empty: unknown
		Known  string `json:"known"`            // a release, such as 1.36
		Older  bool   `json:"older,omitzero"`   // the server is older than what this program knows
	}
)

func (r VersionAssumed) Message() string {
	switch {
	case r.Older:
		return fmt.Sprintf("this program knows the garbage collector since Kubernetes %s, and predicts %s as if it were that", r.Known, r.Server)
	case r.Server == "":
		return "this program predicts a server of unknown version as if it were Kubernetes " + r.Known
	}
	return fmt.Sprintf("this program knows the garbage collector up to Kubernetes %s, and predicts %s as if it were that", r.Known, r.Server)
}
