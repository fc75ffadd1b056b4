// Package memoryserver is an API server of object metadata in memory. It gives upstream's
// garbage collector and namespace deleter the same results and errors as kube-apiserver, without
// a network, a clock or any other source of chance, and fast enough for thousands of runs.
//
// It has what these controllers use: GET, LIST, DELETE, DELETECOLLECTION, PATCH and the events
// of a watch. It stores metadata, and only those other fields that decide how an object is
// deleted. Its rules are those of k8s.io/apiserver (registry.Store, rest.BeforeDelete,
// rest.BeforeUpdate) and of the storage of Namespaces and CustomResourceDefinitions; the test
// TestSameAsKubeAPIServer compares it with a real server.
//
// It does not have: dry run, selectors, server-side apply, managedFields, admission webhooks,
// authorization, defaults (a Job without labels gets those of its template), and writes to spec
// or status, so that a patch of these fields changes nothing.
package memoryserver
