// Package plan computes what a run will do: ordered steps with their reasons, the outcome
// for every affected object, and what stays blocked and why.
//
// It runs the model of package simulate and describes the result; it decides nothing
// itself. A plan is not changed after it is made.
package plan
