// Package plan computes what a run will do: ordered steps with their reasons, the outcome
// for every affected object, and what stays blocked and why.
//
// It runs the model of package simulate and describes the result. It adds two decisions of its own:
// which requested deletions it refuses (blocked.go), and which repairs it leaves out because they
// would delete something (protect.go). A plan is not changed after it is made.
package plan
