package reason

import "fmt"

// What weakens a prediction as a whole.
type (
	// VersionAssumed means that the version of the server is unknown, newer or older than what this
	// tool knows, so that it predicts the server as if it were the newest or the oldest release that
	// it knows.
	VersionAssumed struct {
		Server string `json:"server,omitempty"` // empty: unknown
		Known  string `json:"known"`            // a release, such as 1.36
		Older  bool   `json:"older,omitzero"`   // the server is older than what this tool knows
	}
)

func (r VersionAssumed) Message() string {
	switch {
	case r.Older:
		return fmt.Sprintf("Kubernetes %s is older than the releases that this tool knows: this tool predicts what Kubernetes %s would do", r.Server, r.Known)
	case r.Server == "":
		return "the version of the server is unknown: this tool predicts what Kubernetes " + r.Known + " would do"
	}
	return fmt.Sprintf("Kubernetes %s is newer than the releases that this tool knows: this tool predicts what Kubernetes %s would do", r.Server, r.Known)
}
