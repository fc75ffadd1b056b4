package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// list returns a copy of the true list, which may be changed; nil if the response is not a list.
func (t *falseResponse) list() map[string]any {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	return deepCopy(honest.doc)
}

// nonEmptyList returns the same, or nil if the list has no items.
func (t *falseResponse) nonEmptyList() map[string]any {
	doc := t.list()
	if len(itemsOf(doc)) == 0 {
		return nil
	}
	return doc
}

// others are types whose list can replace that of another type.
var others = []struct{ path, kind string }{
	{"/api/v1/namespaces", "NamespaceList"},
	{"/api/v1/configmaps", "ConfigMapList"},
	{"/api/v1/services", "ServiceList"},
	{"/apis/apiregistration.k8s.io/v1/apiservices", "APIServiceList"},
}

func otherList(t *falseResponse) *response {
	for i := range others {
		o := others[(t.attempt+i)%len(others)]
		if strings.HasSuffix(o.path, "/"+t.resource) {
			continue
		}
		honest := t.askFor(o.path, "limit=500")
		if !honest.ok() || honest.doc == nil {
			return nil
		}
		doc := deepCopy(honest.doc)
		doc["apiVersion"], doc["kind"] = "v1", o.kind
		return t.answer(doc)
	}
	return nil
}

func objectForList(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	item, _ := itemsOf(doc)[0].(map[string]any)
	item["apiVersion"], item["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	return t.answer(item)
}

func listForObject(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	if t.shape == whole {
		return t.inJSON(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{honest.doc}})
	}
	return t.answer(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{honest.doc}})
}

func tableForList(t *falseResponse) *response {
	doc := t.list()
	if doc == nil {
		return nil
	}
	rows := []any{}
	for _, item := range itemsOf(doc) {
		rows = append(rows, map[string]any{"cells": []any{metaOf(item)["name"]}, "object": item})
	}
	return t.inJSON(map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": doc["metadata"], "rows": rows,
		"columnDefinitions": []any{map[string]any{"name": "Name", "type": "string", "format": "name"}},
	})
}

func typesForList(t *falseResponse) *response {
	t.ask()
	return t.answer(map[string]any{"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
		map[string]any{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": []any{"list"}},
	}})
}

func noItems(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	delete(doc, "items")
	return t.inJSON(doc)
}

func itemsNoList(t *falseResponse) *response {
	doc := t.list()
	if doc == nil {
		return nil
	}
	doc["items"] = []any{map[string]any{}, "", "none", 0, false}[t.dice.IntN(5)]
	return t.inJSON(doc)
}

func itemsNoObjects(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	items := itemsOf(doc)
	items[t.dice.IntN(len(items))] = []any{nil, "none", 7, []any{}}[t.dice.IntN(4)]
	return t.inJSON(doc)
}

// anItem changes the metadata of one item.
func anItem(change func(*falseResponse, map[string]any)) func(*falseResponse) *response {
	return func(t *falseResponse) *response {
		doc := t.nonEmptyList()
		if doc == nil {
			return nil
		}
		items := itemsOf(doc)
		change(t, metaOf(items[t.dice.IntN(len(items))]))
		return t.answer(doc)
	}
}

// everyItem changes the metadata of all items.
func everyItem(change func(*falseResponse, map[string]any)) func(*falseResponse) *response {
	return func(t *falseResponse) *response {
		doc := t.nonEmptyList()
		if doc == nil {
			return nil
		}
		for _, item := range itemsOf(doc) {
			change(t, metaOf(item))
		}
		return t.answer(doc)
	}
}

// itemElsewhere moves items to a namespace that the list cannot contain: to another namespace
// than the requested one; to none although they are namespaced; or to one although they are
// cluster-scoped. In a list of all namespaces, no client could detect another namespace.
func itemElsewhere(t *falseResponse) *response {
	return everyItem(func(t *falseResponse, meta map[string]any) {
		switch {
		case t.namespace != "":
			meta["namespace"] = t.namespace + "-2"
		case meta["namespace"] != nil:
			delete(meta, "namespace")
		default:
			meta["namespace"] = "default"
		}
	})(t)
}

func listNoVersion(t *falseResponse) *response {
	doc := t.list()
	if metaOf(doc) == nil {
		return nil
	}
	delete(metaOf(doc), "resourceVersion")
	return t.answer(doc)
}

func itemsTwice(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	doc["items"] = slices.Concat(itemsOf(doc), itemsOf(doc))
	return t.answer(doc)
}

// endless is a list whose pages have no end.
type endless struct {
	kind Kind
	page int
}

// token returns the continue token for the next page.
func (e *endless) token(id string) string {
	e.page++
	switch e.kind {
	case SameToken:
		return id + ".0"
	case TwoTokens:
		return fmt.Sprintf("%s.%d", id, e.page%2)
	default:
		return fmt.Sprintf("%s.%d", id, e.page)
	}
}

const endlessMark = "endless-"

func withoutEnd(kind Kind) func(*falseResponse) *response {
	return func(t *falseResponse) *response {
		doc := t.list()
		if metaOf(doc) == nil || t.continued {
			return nil
		}
		e := &endless{kind: kind}
		t.mu.Lock()
		id := endlessMark + strconv.Itoa(len(t.paging))
		t.paging[id] = e
		metaOf(doc)["continue"] = e.token(id)
		t.mu.Unlock()
		if t.shape == whole {
			return t.inJSON(doc)
		}
		return t.answer(doc)
	}
}

// continueEndless responds to a request for a later page of an endless list; it returns nil for
// other requests.
func (l *Liar) continueEndless(q *requestDetails, r *http.Request) *response {
	values := r.URL.Query()
	id, _, found := strings.Cut(values.Get("continue"), ".")
	if !found || !strings.HasPrefix(id, endlessMark) {
		return nil
	}
	l.mu.Lock()
	e := l.paging[id]
	token := e.token(id)
	l.mu.Unlock()
	if e.kind == ExpiredTokens {
		return &response{code: http.StatusGone, contentType: contentJSON, body: encoded(map[string]any{
			"apiVersion": "v1", "kind": "Status", "status": metav1.StatusFailure, "reason": string(metav1.StatusReasonExpired), "code": http.StatusGone,
			"message": "The provided continue parameter is too old", "metadata": map[string]any{"continue": token},
		})}
	}
	values.Del("continue")
	first := r.Clone(r.Context())
	first.URL.RawQuery = values.Encode()
	t := &falseResponse{Liar: l, requestDetails: *q, r: first}
	doc := t.list()
	if metaOf(doc) == nil {
		return t.ask()
	}
	metaOf(doc)["continue"] = token
	if q.shape == whole {
		return t.inJSON(doc)
	}
	return t.answer(doc)
}

// cutShort removes the continue token, but not remainingItemCount.
func cutShort(t *falseResponse) *response {
	doc := t.list()
	meta := metaOf(doc)
	if textOf(meta, "continue") == "" || meta["remainingItemCount"] == nil {
		return nil
	}
	delete(meta, "continue")
	return t.answer(doc)
}

func wrongCount(t *falseResponse) *response {
	doc := t.list()
	meta := metaOf(doc)
	if textOf(meta, "continue") == "" {
		return nil
	}
	meta["remainingItemCount"] = []int64{-1, 0, 1, 1 << 40, 1<<63 - 1}[t.dice.IntN(5)]
	return t.answer(doc)
}

// older returns the true list of the oldest state.
func (t *falseResponse) older() *response {
	query := url.Values{"resourceVersion": {t.facts.OldResourceVersion}, "resourceVersionMatch": {string(metav1.ResourceVersionMatchExact)}}
	old := t.askFor(t.path, query.Encode())
	if !old.ok() || metaOf(old.doc) == nil {
		return nil
	}
	return t.answer(deepCopy(old.doc))
}

func olderPage(t *falseResponse) *response {
	if len(itemsOf(t.list())) == 0 {
		return nil
	}
	return t.older()
}

// olderList is told only to a client that has read a newer list. Otherwise no client could know
// that it is old.
func olderList(t *falseResponse) *response {
	t.mu.Lock()
	known := t.honest[t.key()] > 0
	t.mu.Unlock()
	if !known {
		return nil
	}
	return t.older()
}

func lacksOwners(t *falseResponse) *response {
	doc := t.nonEmptyList()
	if doc == nil {
		return nil
	}
	left := slices.DeleteFunc(itemsOf(doc), func(item any) bool { return t.facts.Owners[types.UID(textOf(metaOf(item), "uid"))] })
	if len(left) == len(itemsOf(doc)) {
		return nil
	}
	doc["items"] = left
	return t.answer(doc)
}
