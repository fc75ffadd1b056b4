// Package testcluster runs a real Kubernetes control plane for the tests and benchmarks of
// kubectl gc. It builds the command in test/controlplane (in a second), which starts the
// servers, and sends it commands.
//
// A control plane stops with the process that started it, even if that is killed: the
// command stops when the pipe to its stdin closes.
//
// Nothing here reads the user's kubeconfig. Call RequireTestCluster before writing through any
// kubeconfig.
//
// It runs on Linux and macOS only, but compiles elsewhere.
package testcluster
