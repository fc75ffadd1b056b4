package terminating

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// DefaultStuckAfter is how long a deletion may take before it is reported.
const DefaultStuckAfter = 10 * time.Minute

// Holder is the kind of thing that holds an object that is being deleted. The words are part of
// the JSON contract.
type Holder string

// The holders.
const (
	HolderFinalizer   Holder = "finalizer"    // a finalizer of another controller than the collector
	HolderGracePeriod Holder = "grace-period" // it is a Pod whose kubelet still has time to stop it
	HolderKubelet     Holder = "kubelet"      // it is a Pod past its grace period
	HolderDependents  Holder = "dependents"   // the collector's finalizer, because of dependents
	HolderCollector   Holder = "collector"    // the collector's finalizer, and nothing blocks its removal
	HolderContents    Holder = "contents"     // it is a Namespace or CustomResourceDefinition that is not empty
	HolderDiscovery   Holder = "discovery"    // it is a Namespace, and an API group cannot be discovered
	HolderNothing     Holder = "nothing"      // nothing that was read
	HolderUnknown     Holder = "unknown"      // too little could be read
)

// Holders are all holders.
var Holders = []Holder{
	HolderFinalizer, HolderGracePeriod, HolderKubelet, HolderDependents, HolderCollector, HolderContents, HolderDiscovery, HolderNothing, HolderUnknown,
}

// Hold is what holds an object that is being deleted: the one answer that every command gives.
type Hold struct {
	Cluster string          `json:"cluster,omitempty"` // set in a report about several clusters
	Object  object.Identity `json:"object"`
	// Requested is when its deletion was requested. The deletion timestamp of a Pod is later: it
	// is the end of the grace period.
	Requested time.Time `json:"requested"`
	Scanned   time.Time `json:"scanned"`
	Holder    Holder    `json:"heldBy"`
	// RootCause is the object at the end of what it waits for: a dependent, what attaches it to a Node, or the APIService of a group that
	// cannot be discovered. It is nil if that is the object itself, or if the collector deletes the dependents.
	RootCause *object.Identity `json:"rootCause,omitempty"`
	// Finalizers are those of other controllers on the root cause, or on what a Namespace still
	// contains; never nil.
	Finalizers []Finalizer `json:"finalizers"`
	// Contents is the first object in a Namespace that Finalizers hold; nil for other objects.
	Contents *object.Identity `json:"contents,omitempty"`
	*reason.Reason
	Says string `json:"says,omitempty"` // what the object says itself, a sentence without its full stop

	Deleted time.Time `json:"-"` // the deletion timestamp

	BlockedBy     []object.Identity `json:"-"` // the dependents that block it; never nil
	OwnFinalizers []string          `json:"-"` // the finalizers of others that it has itself, if they hold it
	// Obstacle is what keeps the collector from completing the deletion, at the end of a chain of dependents: the root cause, or the object
	// itself. ObstacleReason is said of it. Both are zero if the collector completes the deletion, or if it is up to others alone.
	Obstacle       simulate.Obstacle `json:"-"`
	ObstacleReason *reason.Reason    `json:"-"`
	// Consequence is ConsequenceStuck if the deletion never completes by itself, ConsequenceUnknown if too
	// little could be read to tell, and ConsequenceNone if it waits for something else.
	Consequence collector.Consequence `json:"-"`
	Namespace   *NamespaceDiagnosis   `json:"-"` // of a Namespace; nil for others

	// Kubelet is the kubelet that a Pod past its grace period waits for, and the state of its Node,
	// as a noun; empty for other objects and if the Node is unknown.
	Kubelet string `json:"-"`
	// Because is, as a sentence without its full stop, why a finalizer of Kubernetes is still
	// there; empty if the scan does not show that.
	Because string `json:"-"`
}

// Finalizer is a finalizer of an object, and who removes it, as far as its name tells.
type Finalizer struct {
	Name       string `json:"name"`
	Controller string `json:"controller"`          // a noun; empty if unknown
	Condition  string `json:"condition,omitempty"` // when the controller removes it; a clause
	known      bool   // what its controller is called
	// Traces are what the scan shows of its controller; nil if that cannot be looked for.
	Traces *reason.ControllerTraces `json:"traces,omitempty"`
}

// Removal returns who removes the finalizer, and when, as a clause.
func (f *Finalizer) Removal() string {
	switch {
	case f.Misspelled():
		return "nobody removes it: it is a misspelled finalizer of the garbage collector"
	case f.Condition != "":
		return fmt.Sprintf("%s removes it when %s", f.Controller, f.Condition)
	case f.Controller != "":
		return f.Controller + " has to remove it"
	}
	return "its name does not say which controller has to remove it"
}

// Misspelled reports whether it is a misspelled finalizer of the garbage collector, which nobody removes.
func (f *Finalizer) Misspelled() bool { return f.Controller == simulate.Nobody }

// Names returns the names of finalizers.
func Names(finalizers []Finalizer) []string {
	out := make([]string, len(finalizers))
	for i, f := range finalizers {
		out[i] = f.Name
	}
	return out
}

// Age returns how long ago the deletion was requested, at the time of the scan.
func (h *Hold) Age() time.Duration { return max(0, h.Scanned.Sub(h.Requested)) }

// Late reports whether the deletion takes longer than after. A Pod has its grace period besides, which somebody asked for.
func (h *Hold) Late(after time.Duration) bool { return h.Scanned.Sub(h.Deleted) > after }

// settle is how long a deletion may take in its normal course.
const settle = 30 * time.Second

// Held reports whether something holds the object that does not go by itself within seconds: a finalizer of
// another controller than Kubernetes' own, what a protection waits for, or anything if it has taken longer than settle.
func (h *Hold) Held() bool {
	foreign := slices.ContainsFunc(h.Finalizers, func(f Finalizer) bool { return !simulate.OfKubernetes(f.Name) })
	switch h.Holder {
	case HolderKubelet, HolderDiscovery, HolderUnknown:
		return true
	case HolderDependents, HolderFinalizer, HolderGracePeriod, HolderCollector, HolderContents, HolderNothing:
	}
	return foreign || h.Because != "" || h.Holder != HolderGracePeriod && h.Age() > settle
}

// set sets what holds the object.
func (h *Hold) set(holder Holder, because *reason.Reason, finalizers ...Finalizer) {
	h.Holder, h.Reason, h.Finalizers = holder, because, append(h.Finalizers, finalizers...)
}

// explain sets why the finalizers of the object are still there.
func (h *Hold) explain(held reason.HeldByFinalizers) {
	if held.Due != nil {
		h.Because = held.Due.Finalizer + held.Because()
	} else if len(held.UsedBy) > 0 || held.Any() && h.Age() > settle { // who uses it need not be known before
		h.Because = h.Object.String() + " " + held.Message()
	}
}

// Controllers returns who has to act before the object can go, as nouns without duplicates; none
// if only the name of a finalizer says.
func (h *Hold) Controllers() []string {
	var out []string
	add := func(who string) {
		if who != "" && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	switch h.Holder {
	case HolderGracePeriod, HolderKubelet:
		add("its kubelet")
	case HolderCollector:
		add("the garbage collector")
	case HolderContents:
		if len(h.Finalizers) == 0 && h.Object.IsNamespace() {
			add("the namespace controller")
		} else if len(h.Finalizers) == 0 {
			add("the API server")
		}
	case HolderDependents:
		if h.RootCause == nil && h.Consequence != collector.ConsequenceStuck {
			add("the garbage collector")
		}
	case HolderFinalizer, HolderDiscovery, HolderNothing, HolderUnknown:
	}
	for _, f := range h.Finalizers {
		if f.known {
			add(f.Controller)
		}
	}
	return out
}
