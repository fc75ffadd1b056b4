// Package cluster talks to a Kubernetes API server through client-go: discovery,
// metadata-only lists, lookups of single owners, the server's own table rendering
// of what is shown, whole objects for a backup, and writes to single objects.
//
// Every write is bound to the UID and the resourceVersion of the object that it
// is about. What is written, and why, is the caller's to decide.
//
// It turns answers into a snapshot and failures into gaps; it classes errors,
// and it is the one place that decides when a 404 proves absence. It judges no
// reference and prints nothing. All concurrency of a look lives here; results
// are collected by index and sorted, never in the order of arrival.
//
// A Cluster is safe for concurrent use. Every method stops when its context
// ends, and then answers the context's error.
package cluster
