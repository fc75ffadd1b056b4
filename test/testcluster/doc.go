// Package testcluster runs a real Kubernetes control plane for the tests and benchmarks of
// kubectl gc. The work is done by the command in test/controlplane, which this package
// builds (in a second) and talks to; its doc.go says what a control plane consists of.
//
// A Plane dies with the process that started it, however that one ends: the command
// stops when the pipe to its stdin closes, and that pipe closes with us.
//
// Nothing here reads the user's kubeconfig. Whoever is handed a kubeconfig and means to
// write through it asks RequireOurs first.
//
// Linux and macOS only; it compiles elsewhere.
package testcluster
