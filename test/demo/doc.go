// Command demo shows kubectl gc at work on a real control plane.
//
//	go run ./test/demo          shows it, then stops the control plane
//	go run ./test/demo -keep    leaves the control plane running, so that you can try more
//	go run ./test/demo -stop    stops it
//
// It builds the plugin, starts its own control plane with the garbage collector switched off (so
// that the defects stay visible), loads docs/demo into it, waits for the workload controllers,
// and runs the plugin through kubectl. docs/demo/README.md describes the examples, and how the
// manifests refer to UIDs that are not known in advance.
//
// -save FILE also saves the scanned objects as a snapshot: docs/demo/cluster.json was made in
// this way.
//
// The demo cannot affect a cluster of the user: the control plane listens on loopback, and every
// other kubeconfig is refused.
package main
