package proxy

import (
	"fmt"
	"hash/fnv"
	"net/http"
)

// anObject changes the metadata of the object in the response.
func anObject(change func(*falseResponse, map[string]any)) func(*falseResponse) *response {
	return func(t *falseResponse) *response {
		honest := t.ask()
		if !honest.ok() || textOf(metaOf(honest.doc), "uid") == "" {
			return nil
		}
		doc := deepCopy(honest.doc)
		change(t, metaOf(doc))
		if t.shape == whole {
			return t.inJSON(doc)
		}
		return t.answer(doc)
	}
}

// unknownUID returns a UID that no object has.
func (t *falseResponse) unknownUID() string {
	hash := fnv.New64a()
	fmt.Fprint(hash, t.seed, t.path)
	return fmt.Sprintf("%08x-%04x-4bad-8bad-%012x", uint32(hash.Sum64()), uint16(t.attempt), t.dice.Uint64()>>16)
}

func otherNamespace(t *falseResponse) *response {
	return anObject(func(t *falseResponse, meta map[string]any) {
		if t.namespace == "" {
			meta["namespace"] = "default"
			return
		}
		meta["namespace"] = t.namespace + "-2"
	})(t)
}

// otherKind responds with an object of the same name and another kind.
func otherKind(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() || textOf(metaOf(honest.doc), "uid") == "" {
		return nil
	}
	doc := deepCopy(honest.doc)
	doc["apiVersion"], doc["kind"] = "node.k8s.io/v1", "RuntimeClass"
	metaOf(doc)["uid"] = t.unknownUID()
	if t.shape == whole {
		return t.inJSON(doc)
	}
	return t.answer(doc)
}

// metadataForWhole removes everything but the metadata.
func metadataForWhole(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	of := func(doc any) map[string]any {
		return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metaOf(doc)}
	}
	if t.class == get {
		return t.inJSON(of(honest.doc))
	}
	items := []any{}
	for _, item := range itemsOf(honest.doc) {
		items = append(items, of(item))
	}
	if len(items) == 0 {
		return nil
	}
	return t.inJSON(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": honest.doc["metadata"], "items": items})
}

func lacksWhole(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	var left []any
	for i, item := range itemsOf(doc) {
		if i%3 != t.dice.IntN(3) {
			left = append(left, item)
		}
	}
	if len(left) == len(itemsOf(doc)) {
		left = left[1:]
	}
	doc["items"] = left
	return t.inJSON(doc)
}

// swappedUIDs gives every object the UID of the next one.
func swappedUIDs(t *falseResponse) *response {
	doc := t.nonEmptyList()
	items := itemsOf(doc)
	if len(items) < 2 {
		return nil
	}
	first := metaOf(items[0])["uid"]
	for i := range items {
		uid := first
		if i+1 < len(items) {
			uid = metaOf(items[i+1])["uid"]
		}
		metaOf(items[i])["uid"] = uid
	}
	return t.inJSON(doc)
}

func wholeElsewhere(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	for _, item := range itemsOf(doc) {
		meta := metaOf(item)
		if meta["namespace"] == nil {
			meta["namespace"] = "default"
			continue
		}
		meta["namespace"] = textOf(meta, "namespace") + "-2"
	}
	return t.inJSON(doc)
}

// deletedOther forwards a DELETE, or not, and responds with another object.
func deletedOther(t *falseResponse) *response {
	honest := t.askFor(t.path, "")
	t.maybeExecute()
	if !honest.ok() || textOf(metaOf(honest.doc), "uid") == "" {
		return nil
	}
	doc := deepCopy(honest.doc)
	meta := metaOf(doc)
	if t.dice.IntN(2) == 0 {
		meta["name"] = t.name + "-2"
	} else {
		meta["uid"] = string(t.other(textOf(meta, "uid")))
	}
	return t.answer(doc)
}

func deletedNot(*falseResponse) *response {
	return &response{code: http.StatusOK, contentType: contentJSON, body: []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)}
}

func patchedNot(t *falseResponse) *response {
	honest := t.askFor(t.path, "")
	if !honest.ok() {
		return nil
	}
	return t.answer(honest.doc)
}

func createdOther(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() {
		return nil
	}
	doc := deepCopy(honest.doc)
	switch meta := metaOf(doc); t.dice.IntN(3) {
	case 0:
		meta["name"] = textOf(meta, "name") + "-2"
	case 1:
		meta["uid"] = string(t.other(textOf(meta, "uid")))
	default:
		delete(meta, "uid")
	}
	out := t.answer(doc)
	out.code = http.StatusCreated
	return out
}
