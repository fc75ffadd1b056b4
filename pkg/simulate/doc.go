// Package simulate sets the rules of package collector in motion: a Model holds the
// state of every object, transitions change it, and a simulation runs passes until
// nothing changes any more. It also plays the parts of the API server and of the other
// controllers of Kubernetes as far as a deletion depends on them.
//
// It knows no client and no clock, and the same input always gives the same result.
package simulate
