// Package stories puts the manifests of docs/demo, or of another folder in their form,
// into a control plane of ours, and takes everything out of it again.
//
// docs/demo/README.md says how the manifests name UIDs that nobody knows beforehand.
package stories
