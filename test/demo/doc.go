// Command demo shows kubectl gc at work on a real control plane.
//
//	go run ./test/demo          shows it, then stops the control plane
//	go run ./test/demo -keep    leaves the control plane running, to be played with
//	go run ./test/demo -stop    stops it
//
// It builds the plugin, starts a control plane of its own with the garbage collector
// switched off (so that what is wrong stays to be seen), loads docs/demo into it, waits
// for the workload controllers, and runs the plugin through kubectl. docs/demo/README.md
// tells the stories, and how the manifests name UIDs that nobody knows beforehand.
//
// -save FILE also saves what the plugin saw as a snapshot: docs/demo/cluster.json was
// made so.
//
// No cluster of the user is touched: the control plane listens on loopback, and every
// kubeconfig but its own is refused.
package main
