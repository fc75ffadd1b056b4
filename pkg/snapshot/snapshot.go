package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Snapshot is one look at a cluster. Once it is made, nobody writes to its objects.
type Snapshot struct {
	Taken   time.Time        // when the look ended; every age is measured from here
	Server  string           // the server's git version, empty when unknown
	Types   []Type           // what discovery served, every version
	Listed  []Listing        // what was listed to its end
	Gaps    []Gap            // what could not be read
	Objects []*object.Object // one per UID, in the order of Identity.Compare; a snapshot made of another shares them
	Lookups []Lookup         // one per coordinates, in the order of Coordinates.Compare
	// UnknownField is the first field of a loaded file that this version does not know, and
	// has left out: another version wrote it. Empty where there is none.
	UnknownField string
}

// Listing says that all objects of a type were seen: in one namespace, or in
// the whole cluster where Namespace is empty.
type Listing struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
}

// Gap is a type, a group or a namespace of a type that could not be read. All
// stands for every resource of the group, or for every group.
type Gap struct {
	Group     string     `json:"group"`
	Resource  string     `json:"resource"`
	Namespace string     `json:"namespace"`      // empty: wherever it was asked for; All: where it was only searched for lost owners
	Name      string     `json:"name,omitempty"` // set: not the type, but single owners of it could not be asked for, this one first
	Reason    ErrorClass `json:"reason"`
	Message   string     `json:"message"` // as the server put it: unescaped
}

// All means every group or resource of a gap. As its namespace
// it means that a search of the other namespaces failed: for where the UID of an
// owner lives that is not where its reference says. Such a gap weakens no
// verdict, only the reason that is given for it.
const All = reason.All

// ErrorClass classes what stood in the way of a request.
type ErrorClass string

// The reasons of gaps and of failed lookups: part of the JSON contract.
const (
	Forbidden    ErrorClass = "forbidden"          // 401 and 403
	Unavailable  ErrorClass = "unavailable"        // 503, an aggregated API that is down, a broken connection
	TimedOut     ErrorClass = "timeout"            // the server's, the gateway's or ours
	Throttled    ErrorClass = "throttled"          // 429 until we gave up
	Webhook      ErrorClass = "conversion-webhook" // a CRD's conversion webhook failed
	ServerError  ErrorClass = "server-error"       // any other 5xx
	Unreadable   ErrorClass = "unreadable"         // an answer that could not be decoded
	Vanished     ErrorClass = "vanished"           // discovery named it, the server no longer knows it
	Undiscovered ErrorClass = "undiscovered"       // an APIService or CustomResourceDefinition announces it, or an earlier scan found it, and discovery lacks it
	NotInFile    ErrorClass = "not-in-file"        // a kubectl list does not hold it
	Unverified   ErrorClass = "unproven"           // a 404 that does not prove absence
	BadName      ErrorClass = "bad-name"           // a name that no object can have, so none was asked for
	BadConfig    ErrorClass = "bad-config"         // the kubeconfig does not lead to the cluster, so it was not asked
	// ContestedUID is the reason of a gap whose type has objects with the UID of another
	// object, so that nobody can say what depends on either.
	ContestedUID ErrorClass = "contested-uid"
	// NotListed is the reason for which the contents of a Namespace or of a
	// CustomResourceDefinition are unknown where no list failed, as none was asked for.
	NotListed ErrorClass = "unlisted"
)

// GapReasons are those that a gap can have.
var GapReasons = []ErrorClass{
	Forbidden, Unavailable, TimedOut, Throttled, Webhook, ServerError, Unreadable, Vanished, Undiscovered, NotInFile, Unverified, BadConfig,
	ContestedUID,
}

// The reasons for which a write was not done, besides those above.
const (
	Conflict ErrorClass = "conflict" // the object is no longer in the state that the write was bound to
	Gone     ErrorClass = "gone"     // the very object is gone, or replaced by another of its name
	Invalid  ErrorClass = "invalid"  // the server refuses the object as it would be (422)
	Refused  ErrorClass = "refused"  // any other 4xx
	Exists   ErrorClass = "exists"   // another object is there already under the name of one that was to be made
)

// Parameter returns the gap as the parameter of a reason, without the server's message.
func (g Gap) Parameter() reason.Gap {
	return reason.Gap{Group: g.Group, Resource: g.Resource, Namespace: g.Namespace, Name: g.Name, ErrorClass: string(g.Reason)}
}

// String names the gap as kubectl names types: resource.group.
func (g Gap) String() string { return g.Parameter().String() }

// Compare orders gaps by group, resource, namespace, name, reason and message.
func (g Gap) Compare(o Gap) int {
	return cmp.Or(
		strings.Compare(g.Group, o.Group),
		strings.Compare(g.Resource, o.Resource),
		strings.Compare(g.Namespace, o.Namespace),
		strings.Compare(g.Name, o.Name),
		strings.Compare(string(g.Reason), string(o.Reason)),
		strings.Compare(g.Message, o.Message),
	)
}

// Complete says that nothing which was asked for stayed unread.
func (s *Snapshot) Complete() bool { return len(s.Gaps) == 0 }

// Monitored counts the types that the collector watches.
func (s *Snapshot) Monitored() int {
	n := 0
	for _, t := range s.Types {
		if t.Monitored() {
			n++
		}
	}
	return n
}

// Sort brings every list into its documented order, so that equal looks are
// equal to the byte. It also marks the objects whose UID is contested, adding a gap
// for each of their types: every snapshot passes here, and none may go without.
func (s *Snapshot) Sort() {
	s.contest()
	slices.SortFunc(s.Types, Type.Compare)
	slices.SortFunc(s.Listed, func(a, b Listing) int {
		return strings.Compare(a.Group+"\x00"+a.Resource+"\x00"+a.Namespace, b.Group+"\x00"+b.Resource+"\x00"+b.Namespace)
	})
	slices.SortFunc(s.Gaps, Gap.Compare)
	slices.SortFunc(s.Objects, func(a, b *object.Object) int { return a.Compare(b.Identity) })
	slices.SortFunc(s.Lookups, func(a, b Lookup) int { return a.Coordinates.Compare(b.Coordinates) })
}
