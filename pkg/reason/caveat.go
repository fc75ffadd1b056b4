package reason

import "fmt"

// What weakens a prediction as a whole.
type (
	// VersionAssumed means that the version of the server is unknown, newer or older than what this
	// tool knows, so that it predicts the server as if it were the newest or the oldest release that
	// it knows.
	VersionAssumed struct {
		Server string `json:"server,omitempty"` // empty: unknown
		Known  string `json:"known"`            // a release, such as 1.37
		Older  bool   `json:"older,omitzero"`   // the server is older than what this tool knows
	}
)

func (r VersionAssumed) Message() string {
	switch {
	case r.Older:
		return fmt.Sprintf("Kubernetes %s is older than this tool supports: predictions are for %s", r.Server, r.Known)
	case r.Server == "":
		return "the server's version is unknown: predictions are for Kubernetes " + r.Known
	}
	return fmt.Sprintf("Kubernetes %s is newer than this tool: predictions are for %s", r.Server, r.Known)
}
