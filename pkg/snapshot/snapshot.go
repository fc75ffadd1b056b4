package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Snapshot is the result of one scan of a cluster. Its objects are immutable.
type Snapshot struct {
	Taken   time.Time        // when the scan ended; ages are measured from here
	Server  string           // the server's git version, empty when unknown
	Types   []Type           // what discovery served, every version
	Listed  []Listing        // what was listed completely
	Gaps    []Gap            // what could not be read
	Objects []*object.Object // one per UID, in the order of Identity.Compare; derived snapshots share them
	Lookups []Lookup         // one per coordinates, in the order of Coordinates.Compare
	// Part reports that more objects were listed than these, which are for some decisions only.
	// It is not saved.
	Part bool
	// Webhooks are the admission webhooks whose Service a file of kubectl proves to be missing. They are not saved.
	Webhooks []AdmissionWebhook
	// Refused is what the API server refuses of writes that end objects, as far as it was asked. It is not saved.
	Refused []reason.WebhookRefuses
	// Answers are those of admission to dry runs of what a plan writes. They are not saved.
	Answers Answers
	// Backends are those that objects in a file of kubectl call; nil if it is not known which. They are not saved.
	Backends []reason.BackendLost
	// Managers are those of the objects in a file of kubectl, by UID. They are not saved.
	Managers map[types.UID]reason.ManagedBy
	// Usages are those of the objects in a file of kubectl, by UID. They are not saved.
	Usages map[types.UID]object.Usage
	// Inventories are those that were read, by the UIDs of their objects. They are not saved.
	Inventories map[types.UID]*Inventory
	// ActiveLeases are the Leases that were renewed in the hour before the scan, with their holders. They are nil if
	// they were not read, and not saved.
	ActiveLeases []string
	// UnknownField is the first field of a loaded file that this version does not know and
	// left out. Empty if there is none.
	UnknownField string
	// LeftOut counts what a file of kubectl holds besides objects of a cluster, such as manifests.
	// FirstLeftOut says about the first what it is; nil if there is none.
	LeftOut      int
	FirstLeftOut error
}

// Listing reports that all objects of a type were listed: in one namespace, or in the
// whole cluster if Namespace is empty.
type Listing struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
}

// Complete reports whether everything requested could be read.
func (s *Snapshot) Complete() bool { return len(s.Gaps) == 0 }

// ManagerOf returns the manager of an object, as far as it is known: a scan has no annotations, and it has
// labels only if they were requested.
func (s *Snapshot) ManagerOf(o *object.Object) (reason.ManagedBy, bool) {
	if s.Managers == nil {
		return reason.ManagerOf(o, o.Labels, nil)
	}
	by, ok := s.Managers[o.UID]
	return by, ok
}

// MonitoredTypes returns the number of types that the collector watches.
func (s *Snapshot) MonitoredTypes() int {
	n := 0
	for _, t := range s.Types {
		if t.Monitored() {
			n++
		}
	}
	return n
}

// Normalize brings every list into its documented order, so that equal scans give equal bytes,
// marks the objects whose UID is contested and adds a gap for each of their types. Every
// new snapshot needs it. Its types may be shared with others, so they are not sorted in place.
func (s *Snapshot) Normalize() {
	s.markContested()
	if !slices.IsSortedFunc(s.Types, Type.Compare) {
		s.Types = slices.Clone(s.Types)
		slices.SortStableFunc(s.Types, Type.Compare)
	}
	slices.SortFunc(s.Listed, func(a, b Listing) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace))
	})
	slices.SortFunc(s.Gaps, Gap.Compare)
	slices.SortFunc(s.Objects, func(a, b *object.Object) int { return a.Compare(b.Identity) })
	slices.SortFunc(s.Lookups, func(a, b Lookup) int { return a.Coordinates.Compare(b.Coordinates) })
}

// Coordinates locate one object for a GET. Namespace is empty for a cluster-scoped kind.
type Coordinates struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Compare orders coordinates like Identity.Compare.
func (c Coordinates) Compare(o Coordinates) int {
	identity := func(c Coordinates) object.Identity {
		return object.Identity{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
	}
	return identity(c).Compare(identity(o))
}

// UniqueCoordinates removes duplicates and keeps the order. It reuses the slice.
func UniqueCoordinates(all []Coordinates) []Coordinates {
	seen := map[Coordinates]bool{}
	return slices.DeleteFunc(all, func(c Coordinates) bool {
		duplicate := seen[c]
		seen[c] = true
		return duplicate
	})
}

// Lookup is the result of one GET at a reference's own coordinates, for an owner that no
// list showed there (docs/gc-semantics.md#verdicts).
type Lookup struct {
	Coordinates
	Outcome LookupResult   `json:"outcome"`
	Object  *object.Object `json:"object,omitempty"`  // if found
	Reason  ErrorClass     `json:"reason,omitempty"`  // if failed
	Message string         `json:"message,omitempty"` // if failed, unescaped
}

// LookupResult is the outcome of a lookup.
type LookupResult string

// Found and Absent are proof, Failed is not.
const (
	Found  LookupResult = "found"
	Absent LookupResult = "absent" // a 404 that names the object, of a type whose list succeeded
	Failed LookupResult = "failed"
)
