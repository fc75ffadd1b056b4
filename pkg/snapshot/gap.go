package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Gap is a type, a group or a namespace of a type that could not be read.
type Gap struct {
	Cluster   string     `json:"cluster,omitempty"` // set in an answer about several clusters
	Group     string     `json:"group"`             // All: every group
	Resource  string     `json:"resource"`          // All: every resource of the group
	Namespace string     `json:"namespace"`         // empty: everywhere; All: only the search of other namespaces for lost owners failed
	Name      string     `json:"name,omitempty"`    // the first owner of the type that could not be looked up; empty if the whole type could not be read
	Reason    ErrorClass `json:"reason"`
	Message   string     `json:"message"` // the server's, unescaped
	// Objects are those that the API server cannot read from etcd: names, in their namespaces as
	// namespace/name, or the key in etcd if it has another form. MoreObjects reports that there may be more.
	Objects     []string `json:"objects,omitempty"`
	MoreObjects bool     `json:"moreObjects,omitempty"`
}

// All means every group or resource of a gap. As its namespace it means that other
// namespaces could not be searched for the owner with a reference's UID. Such a gap
// changes no verdict, only the reason given for it.
const All = reason.All

// ErrorClass is why a request failed.
type ErrorClass string

// The error classes of gaps and of failed lookups are part of the JSON contract.
const (
	Forbidden    ErrorClass = "forbidden"          // 401 and 403
	Unavailable  ErrorClass = "unavailable"        // 503, an aggregated API that is down, a broken connection
	TimedOut     ErrorClass = "timeout"            // of the server, the gateway or this tool
	Throttled    ErrorClass = "throttled"          // 429 on every attempt
	Webhook      ErrorClass = "conversion-webhook" // a CRD's conversion webhook failed
	StoreRead    ErrorClass = "store-read-error"   // the API server cannot decrypt or decode an object in etcd
	ServerError  ErrorClass = "server-error"       // any other 5xx
	Unreadable   ErrorClass = "unreadable"         // a response that could not be decoded
	Vanished     ErrorClass = "vanished"           // discovery listed it, but the server no longer knows it
	Undiscovered ErrorClass = "undiscovered"       // missing from discovery, but an APIService, a CustomResourceDefinition or an earlier scan has it
	NotInFile    ErrorClass = "not-in-file"        // a kubectl list does not contain it
	Unverified   ErrorClass = "unproven"           // a 404 that does not prove absence
	BadName      ErrorClass = "bad-name"           // a name that no object can have, so it was not requested
	BadConfig    ErrorClass = "bad-config"         // the kubeconfig has no usable cluster, so nothing was requested
	NoNamespace  ErrorClass = "no-namespace"       // the cluster does not have the namespace to scan
	ContestedUID ErrorClass = "contested-uid"      // objects of the type share their UID with other objects, so dependents of either are unknown
	TooLarge     ErrorClass = "too-large"          // the objects of a namespace do not fit into memory with all their owner references
	// NotListed is why the contents of a Namespace or CustomResourceDefinition are unknown
	// if no list failed because none was requested.
	NotListed ErrorClass = "unlisted"
)

// GapErrorClasses are the error classes that a gap of a scan can have.
var GapErrorClasses = []ErrorClass{
	Forbidden, Unavailable, TimedOut, Throttled, Webhook, StoreRead, ServerError, Unreadable, Vanished, Undiscovered, NotInFile, Unverified, BadConfig,
	NoNamespace, ContestedUID, TooLarge,
}

// A failed write has one of these error classes or one of those above.
const (
	Conflict ErrorClass = "conflict" // the object changed since it was read
	Gone     ErrorClass = "gone"     // the object is gone, or replaced by another of its name
	Invalid  ErrorClass = "invalid"  // the server rejects the object's new state (422)
	Refused  ErrorClass = "refused"  // any other 4xx
	Exists   ErrorClass = "exists"   // another object already has the name of the one to create
)

// HidesClaims reports whether the gap may hide PersistentVolumeClaims.
func (g Gap) HidesClaims() bool {
	return g.Group == All || g.Group == "" && (g.Resource == All || g.Resource == "persistentvolumeclaims")
}

// Parameter returns the gap as the parameter of a reason, without the server's message.
func (g Gap) Parameter() reason.Gap {
	return reason.Gap{
		Group: g.Group, Resource: g.Resource, Namespace: g.Namespace, Name: g.Name, ErrorClass: string(g.Reason),
		Objects: g.Objects, MoreObjects: g.MoreObjects,
	}
}

// Parameters returns the gaps as the parameter of a reason, never nil.
func Parameters(gaps []Gap) []reason.Gap {
	out := make([]reason.Gap, len(gaps))
	for i, g := range gaps {
		out[i] = g.Parameter()
	}
	return out
}

// String returns resource.group, as kubectl names types, with the cluster.
func (g Gap) String() string {
	switch {
	case g.Cluster == "":
		return g.Parameter().String()
	case g.Group == All:
		return "cluster " + g.Cluster
	}
	return g.Parameter().String() + " in cluster " + g.Cluster
}

// Compare orders gaps by group, resource, namespace, name, reason and message.
func (g Gap) Compare(o Gap) int {
	return cmp.Or(
		strings.Compare(g.Group, o.Group),
		strings.Compare(g.Resource, o.Resource),
		strings.Compare(g.Namespace, o.Namespace),
		strings.Compare(g.Name, o.Name),
		strings.Compare(string(g.Reason), string(o.Reason)),
		strings.Compare(g.Message, o.Message),
		slices.Compare(g.Objects, o.Objects),
	)
}

// Equal reports whether the gaps are equal.
func (g Gap) Equal(o Gap) bool {
	return g.Compare(o) == 0 && g.Cluster == o.Cluster && g.MoreObjects == o.MoreObjects
}

// Why returns the class, or the objects that keep the type from being read.
func (g Gap) Why() string { return g.Parameter().Why() }

// In returns the gap with only those Objects that are in a namespace. If none is, it returns the gap as it is, and
// ok is false: then the API server may be able to list the type in that namespace alone.
func (g Gap) In(namespace string) (in Gap, ok bool) {
	in = g
	in.Objects = slices.DeleteFunc(slices.Clone(g.Objects), func(name string) bool { return !strings.HasPrefix(name, namespace+"/") })
	if len(in.Objects) == 0 {
		return g, false
	}
	return in, true
}

// FirstObject returns the arguments that name the first of the Objects on a command line, or nil.
func (g Gap) FirstObject() []string {
	if len(g.Objects) == 0 || strings.HasPrefix(g.Objects[0], "/") {
		return nil
	}
	if namespace, name, namespaced := strings.Cut(g.Objects[0], "/"); namespaced {
		return []string{g.Word() + "/" + name, "-n", namespace}
	}
	return []string{g.Word() + "/" + g.Objects[0]}
}

// AcceptedGaps are the gaps that the user accepted, by name: RESOURCE or RESOURCE.GROUP for
// a type, or a group for all of its types.
//
// Acceptance affects only two conclusions: that all dependents of an object were listed,
// and that all contents of a Namespace or CustomResourceDefinition were listed. An owner
// that could not be verified stays unknown.
type AcceptedGaps []string

// Covers reports whether a gap is accepted. The gap of a whole group is accepted only by
// the group's name, and the gap of all groups by no word.
func (a AcceptedGaps) Covers(g Gap) bool { return a.wordFor(g) != "" }

// wordFor returns the word that accepts a gap, or an empty string.
func (a AcceptedGaps) wordFor(g Gap) string {
	for _, word := range []string{g.Group, g.Word()} {
		if word != "" && word != All && slices.Contains(a, word) {
			return word
		}
	}
	return ""
}

// Word returns the word that accepts this gap and no other, or an empty string if none does.
func (g Gap) Word() string {
	switch {
	case g.Group == All:
		return ""
	case g.Resource == All:
		return g.Group
	}
	return qualified(g.Resource, g.Group)
}

// Matching returns the words that accept any of the gaps, sorted and without duplicates.
func (a AcceptedGaps) Matching(gaps []Gap) AcceptedGaps {
	var out AcceptedGaps
	for _, g := range gaps {
		if word := a.wordFor(g); word != "" {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
