package proxy

import (
	"fmt"
	"strings"
)

// These lies do not change the conclusions of a client: they add items that nothing refers to,
// and annotations. They show how much memory the client uses for the responses of a malicious
// server.

const mebibyte = 1 << 20

// Variables, as tests use smaller values.
var (
	mostItems = 20 * mebibyte / 200 // about 200 bytes each
	huge      = 15 * mebibyte
)

func manyItems(t *falseResponse) *response {
	doc := t.list()
	if doc == nil {
		return nil
	}
	items := itemsOf(doc)
	version := textOf(metaOf(doc), "resourceVersion")
	for i := range mostItems {
		meta := map[string]any{
			"name": fmt.Sprintf("made-up-%d", i), "uid": fmt.Sprintf("%08x-%04x-4bad-8bad-%012x", uint32(t.seed), uint16(t.attempt), i), "resourceVersion": version,
			"creationTimestamp": "2026-01-01T00:00:00Z",
		}
		if t.namespaced(items) {
			meta["namespace"] = "default"
			if t.namespace != "" {
				meta["namespace"] = t.namespace
			}
		}
		items = append(items, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": meta})
	}
	doc["items"] = items
	return t.answer(doc)
}

// namespaced reports whether the objects of this list are in namespaces.
func (t *falseResponse) namespaced(items []any) bool {
	return t.namespace != "" || len(items) > 0 && metaOf(items[0])["namespace"] != nil
}

// pad gives up to four objects 15 MiB of annotations each.
func pad(objects []any) {
	padding := strings.Repeat("0123456789abcdef", huge/16)
	for _, o := range objects[:min(len(objects), 4)] {
		metaOf(o)["annotations"] = map[string]any{"padding": padding}
	}
}

func hugeItems(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	pad(itemsOf(doc))
	return t.answer(doc)
}

func hugeObjects(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	doc := deepCopy(honest.doc)
	if t.class == get {
		pad([]any{doc})
	} else {
		if len(itemsOf(doc)) == 0 {
			return nil
		}
		pad(itemsOf(doc))
	}
	return t.inJSON(doc)
}
