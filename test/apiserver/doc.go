// Package apiserver is an API server in memory. It gives clients, upstream's garbage collector and
// the namespace deleter the same results and errors as kube-apiserver, without chance, and fast
// enough for thousands of runs.
//
// Its rules are those of k8s.io/apiserver (registry.Store, rest.BeforeCreate, rest.BeforeDelete,
// rest.BeforeUpdate) and of the storage of Namespaces and CustomResourceDefinitions; the test
// TestSameAsKubeAPIServer compares it with a real server. The methods of Server are the requests
// of a client in the same process. As an http.Handler it has discovery, lists in pages, watches
// and access reviews, and whole objects, metadata and tables. Corrupt breaks objects, and Lie
// overrides its answers.
//
// It does not have: server-side apply, PUT, managedFields other than the creator, admission
// webhooks, authorization, defaults (a Job without labels gets those of its template),
// subresources, and the deprecated option orphanDependents.
package apiserver
