// Package scenario describes small clusters for the comparison with upstream's garbage
// collector, and the messages between the comparison and the program that runs upstream's
// collector. That program belongs to another module, which gets a copy of this package.
package scenario

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Scenario is a cluster at rest and what a user deletes in it.
type Scenario struct {
	Types   []Type
	Objects []Object
	Deletes []Delete // one after the other; the controllers may act between two of them
	Creates []Object `json:",omitempty"` // what a user creates right after the last of Deletes
	// UnreachableGroups are API groups that discovery reports as failed, in addition to
	// those of Types.
	UnreachableGroups []string  `json:",omitempty"`
	Faults            Faults    `json:",omitzero"`
	Refused           []Refusal `json:",omitempty"`
}

// Refusal is a write that admission refuses: in every order of events, or in some of them if it has a doubt.
type Refusal struct {
	Operation string // DELETE or UPDATE
	UID       types.UID
	Doubt     string `json:",omitempty"` // what a dry run has shown: empty, or a reason.AdmissionDoubt
}

// Faults are wrong answers of the API server. They show what upstream's collector makes of them;
// random scenarios have none.
type Faults struct {
	Unlisted []string    `json:",omitempty"` // types, as RESOURCE or RESOURCE.GROUP, that cannot be listed
	Unserved []string    `json:",omitempty"` // types whose objects, once listed, are answered with a 404 that names none
	Misread  []types.UID `json:",omitempty"` // objects in whose place every GET shows another one
}

// Type is a resource that the API server serves.
type Type struct {
	Group, Version string   // the preferred version
	OtherVersions  []string `json:",omitempty"` // also served
	Resource, Kind string
	Namespaced     bool `json:",omitempty"`
	// Custom reports that a CustomResourceDefinition defines the type, so that strategic
	// merge patches are refused.
	Custom bool `json:",omitempty"`
	// Unwatchable reports that an aggregated API server serves the type without the verb
	// watch, so that the garbage collector does not monitor it.
	Unwatchable bool `json:",omitempty"`
}

// Object is an object as the API server stores it.
type Object struct {
	metav1.PartialObjectMetadata
	Pod            *Pod     `json:",omitempty"` // of a Pod
	SpecFinalizers []string `json:",omitempty"` // of a Namespace: spec.finalizers
}

// Pod is what decides how a Pod is deleted.
type Pod struct {
	GraceSeconds int64 // spec.terminationGracePeriodSeconds
	Scheduled    bool  `json:",omitempty"` // on a node
	Finished     bool  `json:",omitempty"` // it has succeeded or failed
	NodeLost     bool  `json:",omitempty"` // the node's kubelet never answers
}

// Delete is a DELETE request of a user.
type Delete struct {
	UID    string
	Policy metav1.DeletionPropagation // empty: the default of the type
}

// Request asks for the ends of a scenario under random orders of events.
type Request struct {
	Scenario Scenario
	Seed     uint64
	Orders   int
}

// Reply has the different ends that were reached.
type Reply struct {
	Ends  []End
	Error string `json:",omitempty"`
}

// End is a state in which no controller has anything left to do.
type End struct {
	Orders  int // how many orders ended here
	Objects []Object
	// Settled are the objects before the first Delete, when the controllers had nothing left
	// to do. Nil if they equal those of the scenario.
	Settled []Object `json:",omitzero"`
	// Released are the objects after other controllers have removed their finalizers, too, from
	// what the user's requests left terminating. Nil if they equal Objects.
	Released []Object `json:",omitzero"`
}
