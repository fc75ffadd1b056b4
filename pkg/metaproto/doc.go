// Package metaproto reads the metadata of a list out of the bytes that an API server
// sends, as they arrive: Kubernetes' protobuf encoding of a
// meta.k8s.io/v1 PartialObjectMetadataList.
//
// It takes from an item what package object keeps and steps over the rest:
// managedFields, annotations and what else is most of a metadata are neither
// copied nor looked into. What it reads is what object.FromMeta makes of the
// item that client-go decodes of the same bytes; where the encoding is one that
// no server writes, it may be refused instead (see Reader.Append).
//
// It asks for nothing: the body is the caller's, and so is whatever answer is
// not such a list.
package metaproto
