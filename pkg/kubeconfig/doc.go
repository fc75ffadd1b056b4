// Package kubeconfig says which cluster to talk to, and as whom: by kubectl's
// flags and the files that they lead to.
//
// client-go reads and merges the files. cli-runtime offers the same flags, but
// links all types of all API groups with them, which start-up pays for.
package kubeconfig
