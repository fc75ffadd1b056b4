// Package simulate applies the rules of package collector to a whole graph: a Model
// holds the state of every object, transitions change it, and a simulation runs
// collection passes until nothing changes any more. The package also models the API
// server and the other controllers of Kubernetes, as far as deletions depend on them.
//
// The same input always gives the same result.
package simulate
