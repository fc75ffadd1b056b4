// Package metaproto decodes metadata lists while they arrive from an API server: Kubernetes'
// protobuf encoding of a meta.k8s.io/v1 PartialObjectMetadataList.
//
// It keeps the fields of object.Object and skips the rest, such as managedFields and
// annotations, without copying it. The result equals object.FromMeta of the items that
// client-go decodes from the same bytes, but some encodings that no server writes are errors
// (see Reader.Append).
//
// The caller makes the request and handles every other kind of response.
package metaproto
