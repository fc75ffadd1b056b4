// Package execute defines what carrying out a plan (planrun) and recreating objects
// (recreate) have in common: the options and the report of a run.
package execute

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Tuning is how a run goes about its steps. The zero value is usable.
type Tuning struct {
	// Concurrency is the number of steps in progress at once; below 1: one. Steps
	// that wait for something outside this run do not count.
	Concurrency int
	// Pace returns when the next write may be sent, or the context's error if that ends
	// before. With it, Concurrency bounds how long a step that is ready to write waits.
	// It is safe for concurrent use. It may be nil.
	Pace func(context.Context) error
	// DryRun requires a server that changes nothing. Every step is sent against the
	// state that the plan was made from, in no order. Nothing is backed up, recorded
	// or waited for.
	DryRun bool
	// OnEvent is called with every event, one at a time; the run waits for it to
	// return. It may be nil.
	OnEvent func(event.Event)
	// Record is called like OnEvent when a step has ended. After its first error no
	// further step begins. It may be nil.
	Record func(event.Event) error
	// OnUnrecorded is called once, with the first error of recording. It may be nil.
	OnUnrecorded func(error)
}

// RunResult is the result of a run.
type RunResult struct {
	Results []event.Result // one per step of the plan, in the plan's order
	// Gone are the objects that the plan deletes and that the run knows to be gone.
	Gone map[types.UID]bool
	// Interrupted reports whether the context ended before every step had ended.
	Interrupted bool
	Unrecorded  error // the first error of recording
}

// Patcher reads and patches objects.
type Patcher interface {
	// Patch changes o, if its UID and resourceVersion are still the same. It returns
	// what is left of the object: nil if the change completed its deletion. An empty
	// change is sent too, for the server's answer to it.
	Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error)
	// Read returns the current state of an object, or nil if it is proven to be gone or
	// replaced by another of its name.
	Read(ctx context.Context, at object.Identity) (*object.Object, error)
}

// ClassifiedError is an error of a known class. Errors of a server are, or wrap, one
// where the class is known.
type ClassifiedError interface {
	error
	Class() snapshot.ErrorClass
}
