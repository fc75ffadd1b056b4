// Package proxy runs a proxy between kubectl gc and a test control plane, which injects the
// faults that happen between a client and a real API server.
//
// Start listens on loopback and forwards requests as the control plane's admin. The caller
// chooses the faults: FirstMatch responds by explicit rules, and a FaultInjector by a seed,
// with the faults of error_responses.go, body_faults.go and connection_faults.go.
//
// The proxy forwards only to a control plane that testcluster.RequireTestCluster accepts. The
// kubeconfig that it writes has only the proxy.
package proxy
