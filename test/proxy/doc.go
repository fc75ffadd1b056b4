// Package proxy stands between kubectl gc and a control plane of the tests, and
// lets go wrong what goes wrong on the way to a real one.
//
// Start listens on loopback and hands on, as the control plane's admin, what
// comes. What is done to it is the caller's: First answers by hand-written rules,
// Mischief answers by a seed, and both use the same answers (answer.go, body.go,
// traffic.go).
//
// It leads to a control plane that plane.RequireOurs vouches for, and nowhere
// else. The kubeconfig that it writes leads to the proxy alone.
package proxy
