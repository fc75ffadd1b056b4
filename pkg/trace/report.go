package trace

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// DeletionReport is what the evidence says about deletions. In JSON it is a public document. No list is nil.
type DeletionReport struct {
	Sources  []Source  `json:"sources"`
	Requests int       `json:"requests"` // writes in the audit log, deletions or not
	Lines    int       `json:"lines"`    // of the log of kube-controller-manager, as far as they say something
	Outages  []Outage  `json:"outages"`
	Loops    []Looked  `json:"loops"`
	Cascades []Cascade `json:"cascades"` // the largest first
	// Target is the object that was asked for; nil unless the report is about one. Its cascade is the
	// only one then. Its list has only the deletions that led to it, its own, and those that followed it; its
	// numbers are of all.
	Target *FoundDeletion `json:"target,omitempty"`
	// Notes are what else is known of the object that was asked for.
	Notes []*reason.Reason `json:"notes"`

	inquiry *inquiry // for Select
}

// FoundDeletion is where the deletion of an object is.
type FoundDeletion struct {
	Deletion int `json:"deletion"` // index in the deletions of the cascade
	Cascade  int `json:"-"`        // index of the cascade in the report that this one was selected from
	// Others are the deletions of other objects that had its name; the earliest first.
	Others []Generation `json:"others"`
}

// Generation is the deletion of another object that had the same name.
type Generation struct {
	Object object.Identity `json:"object"`
	At     time.Time       `json:"at,omitzero"`
	By     Deleter         `json:"by,omitzero"`
	Doubt  reason.Doubt    `json:"doubt,omitempty"` // as in Deletion
}

// Cascade is what one request, or one mistake in a reference, deleted.
type Cascade struct {
	// Root is why there is this cascade: the reason of its first deletion, or that of a collection.
	Root *reason.Reason `json:"root"`
	// Unexplained reports that it is unknown who began it: the first deletion is only the first that is
	// known.
	Unexplained bool `json:"unexplained,omitzero"`
	// Perhaps reports that it is not proven that By began it: the request may not have been executed. See the
	// circumstances of the first deletion.
	Perhaps bool      `json:"perhaps,omitzero"`
	By      Deleter   `json:"by,omitzero"`
	Verb    string    `json:"verb,omitempty"`   // delete, deletecollection or evict; empty if no request is known
	Policy  string    `json:"policy,omitempty"` // as in Deletion
	At      time.Time `json:"at,omitzero"`      // of the request; zero if it is not in the log
	// Collection is what a deletecollection named; nil for others. The deletions at depth 0 are what it
	// deleted, as far as that is known: perhaps none.
	Collection *Collection `json:"collection,omitempty"`

	From      time.Time `json:"from,omitzero"` // of the first deletion
	To        time.Time `json:"to,omitzero"`   // of the last one, or of its end
	Objects   int       `json:"objects"`
	Uncertain int       `json:"uncertain"` // of these: that they have this root is not proven; see Deletion.Perhaps
	Claims    int       `json:"claims"`    // PersistentVolumeClaims among them
	Volumes   int       `json:"volumes"`   // PersistentVolumes among them
	Whole     int       `json:"whole"`     // those that a log has as a whole, so that they can be recreated
	// Deletions are in the order of a tree: each follows what it came from. Siblings are sorted by time,
	// then by object.
	Deletions []Deletion `json:"deletions"`
}

// Collection is what a deletecollection named.
type Collection struct {
	Resource      string `json:"resource"` // resource.group
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`
	// SelectorUnknown reports that the log does not have the selectors.
	SelectorUnknown bool `json:"selectorUnknown,omitzero"`
}

// Deletion is the deletion of one object: the first successful request, and those that repeated or
// ended it.
type Deletion struct {
	Object   object.Identity `json:"object"`             // its kind and UID are empty if they are unknown
	Resource string          `json:"resource,omitempty"` // resource.group; empty if unknown
	Depth    int             `json:"depth"`
	Parent   int             `json:"parent"`           // index of what it came from; -1 at depth 0
	At       time.Time       `json:"at,omitzero"`      // when it was requested; zero if that is unknown
	Ended    time.Time       `json:"ended,omitzero"`   // when the last request for it came; zero if there was one alone
	By       Deleter         `json:"by,omitzero"`      // who sent the first request; zero if that is unknown, and if one of several began it
	Verb     string          `json:"verb,omitempty"`   // as in Cascade
	Policy   string          `json:"policy,omitempty"` // Background, Foreground, Orphan; Default if the request named none; empty if it is not in the log
	Basis    *Basis          `json:"basis,omitempty"`  // the first request; nil if none is in a log
	Doubt    reason.Doubt    `json:"doubt,omitempty"`  // why that request may not have been executed; empty if it was
	// Perhaps reports that it is not proven that it has the root of its cascade: see Why and Circumstances of it, and of what it came from.
	Perhaps  bool           `json:"perhaps,omitzero"`
	Inferred bool           `json:"inferred,omitzero"` // that it comes from its parent, or that it went at all, is in no line of a log: see Why
	Why      *reason.Reason `json:"why"`               // a *reason.Reason; the short form leaves out what the parent says
	// Circumstances are what else matters, such as a restart of the garbage collector.
	Circumstances []*reason.Reason `json:"circumstances"`
	// Whole is where a log has the whole object, as it was last before the deletion or in the first answer to
	// that. It is nil if no log has it.
	Whole *Place `json:"whole,omitempty"`
}

// Basis is what a claim about a request rests on: where a log has it, and what the server answered.
type Basis struct {
	Place

	ID   string `json:"auditID,omitempty"` // a client may choose it
	Code int    `json:"code,omitempty"`    // 0 if the log does not have it
}

// Deleter is who deleted something.
type Deleter struct {
	Role Role `json:"role"`
	// Controller is the name of a controller as its service account has it; empty for others, and if it
	// is unknown.
	Controller string   `json:"controller,omitempty"`
	User       string   `json:"user,omitempty"` // who authenticated; empty if only kube-controller-manager's log has the deletion
	Groups     []string `json:"groups,omitempty"`
	As         string   `json:"as,omitempty"` // whom the user acted as; the groups are those of that one
	Agent      string   `json:"agent,omitempty"`
	Addresses  []string `json:"addresses,omitempty"`
}

// Role is what the sender of a request is in the cluster. The values are part of the JSON contract.
type Role string

// The roles.
const (
	RoleUser           Role = "user"            // a person, or a program with a certificate or token of its own
	RoleServiceAccount Role = "service-account" // of a workload
	RoleCollector      Role = "garbage-collector"
	RoleNamespace      Role = "namespace-controller"
	RolePodGC          Role = "pod-garbage-collector"
	RoleTTL            Role = "ttl-after-finished-controller"
	RoleTaint          Role = "taint-eviction-controller"
	RoleController     Role = "controller"              // another controller of kube-system
	RoleManager        Role = "kube-controller-manager" // one of its controllers; which one is not in the log
	RoleScheduler      Role = "scheduler"
	RoleKubelet        Role = "kubelet"
	RoleThisTool       Role = "kubectl-gc" // by its user agent, which a client may choose
	RoleNone           Role = ""           // no request is known
)

// Question names an object whose deletion is asked for.
type Question struct {
	UID             string // if it is set, the rest may be empty
	Type            string // as on the command line: a kind, resource or short name
	Namespace, Name string
}
