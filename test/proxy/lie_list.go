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

// list returns a copy of the honest list, which can be changed; nil where there is none.
func (t *telling) list() map[string]any {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	return like(honest.doc)
}

// full returns the same of a list with items.
func (t *telling) full() map[string]any {
	doc := t.list()
	if len(itemsOf(doc)) == 0 {
		return nil
	}
	return doc
}

// others are the types of which a list may be answered for another.
var others = []struct{ path, kind string }{
	{"/api/v1/namespaces", "NamespaceList"},
	{"/api/v1/configmaps", "ConfigMapList"},
	{"/api/v1/services", "ServiceList"},
	{"/apis/apiregistration.k8s.io/v1/apiservices", "APIServiceList"},
}

func otherList(t *telling) *said {
	for i := range others {
		o := others[(t.time+i)%len(others)]
		if strings.HasSuffix(o.path, "/"+t.resource) {
			continue
		}
		honest := t.askFor(o.path, "limit=500")
		if !honest.ok() || honest.doc == nil {
			return nil
		}
		doc := like(honest.doc)
		doc["apiVersion"], doc["kind"] = "v1", o.kind
		return t.answer(doc)
	}
	return nil
}

func objectForList(t *telling) *said {
	doc := t.full()
	if doc == nil {
		return nil
	}
	item, _ := itemsOf(doc)[0].(map[string]any)
	item["apiVersion"], item["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	return t.answer(item)
}

func listForObject(t *telling) *said {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	if t.shape == whole {
		return t.inJSON(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{honest.doc}})
	}
	return t.answer(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{honest.doc}})
}

func tableForList(t *telling) *said {
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

func typesForList(t *telling) *said {
	t.ask()
	return t.answer(map[string]any{"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
		map[string]any{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": []any{"list"}},
	}})
}

func noItems(t *telling) *said {
	doc := t.full()
	if doc == nil {
		return nil
	}
	delete(doc, "items")
	return t.inJSON(doc)
}

func itemsNoList(t *telling) *said {
	doc := t.list()
	if doc == nil {
		return nil
	}
	doc["items"] = []any{map[string]any{}, "", "none", 0, false}[t.dice.IntN(5)]
	return t.inJSON(doc)
}

func itemsNoObjects(t *telling) *said {
	doc := t.full()
	if doc == nil {
		return nil
	}
	items := itemsOf(doc)
	items[t.dice.IntN(len(items))] = []any{nil, "none", 7, []any{}}[t.dice.IntN(4)]
	return t.inJSON(doc)
}

// anItem changes the metadata of one item.
func anItem(change func(*telling, map[string]any)) func(*telling) *said {
	return func(t *telling) *said {
		doc := t.full()
		if doc == nil {
			return nil
		}
		items := itemsOf(doc)
		change(t, metaOf(items[t.dice.IntN(len(items))]))
		return t.answer(doc)
	}
}

// everyItem changes the metadata of all items.
func everyItem(change func(*telling, map[string]any)) func(*telling) *said {
	return func(t *telling) *said {
		doc := t.full()
		if doc == nil {
			return nil
		}
		for _, item := range itemsOf(doc) {
			change(t, metaOf(item))
		}
		return t.answer(doc)
	}
}

// itemElsewhere puts items where those of the list cannot be: in another namespace
// than the one that was listed; in none, though they belong into one; or in one, though
// they belong into none. In a list of all namespaces, the wrong one of them could be
// told from the right one by nobody.
func itemElsewhere(t *telling) *said {
	return everyItem(func(t *telling, meta map[string]any) {
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

func listNoVersion(t *telling) *said {
	doc := t.list()
	if metaOf(doc) == nil {
		return nil
	}
	delete(metaOf(doc), "resourceVersion")
	return t.answer(doc)
}

func itemsTwice(t *telling) *said {
	doc := t.full()
	if doc == nil {
		return nil
	}
	doc["items"] = slices.Concat(itemsOf(doc), itemsOf(doc))
	return t.answer(doc)
}

// endless is a list whose pages have no end.
type endless struct {
	kind Kind
	at   int
}

// token names the page behind this one.
func (e *endless) token(id string) string {
	e.at++
	switch e.kind {
	case SameToken:
		return id + ".0"
	case TwoTokens:
		return fmt.Sprintf("%s.%d", id, e.at%2)
	default:
		return fmt.Sprintf("%s.%d", id, e.at)
	}
}

const endlessMark = "endless-"

func withoutEnd(kind Kind) func(*telling) *said {
	return func(t *telling) *said {
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

// goOn answers a question for a later page of a list without end; nil where it is none.
func (l *Liar) goOn(q *question, r *http.Request) *said {
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
		return &said{code: http.StatusGone, contentType: contentJSON, body: encoded(map[string]any{
			"apiVersion": "v1", "kind": "Status", "status": metav1.StatusFailure, "reason": string(metav1.StatusReasonExpired), "code": http.StatusGone,
			"message": "The provided continue parameter is too old", "metadata": map[string]any{"continue": token},
		})}
	}
	values.Del("continue")
	first := r.Clone(r.Context())
	first.URL.RawQuery = values.Encode()
	t := &telling{Liar: l, question: *q, r: first}
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

// cutShort takes the token away, and leaves the count.
func cutShort(t *telling) *said {
	doc := t.list()
	meta := metaOf(doc)
	if textOf(meta, "continue") == "" || meta["remainingItemCount"] == nil {
		return nil
	}
	delete(meta, "continue")
	return t.answer(doc)
}

func wrongCount(t *telling) *said {
	doc := t.list()
	meta := metaOf(doc)
	if textOf(meta, "continue") == "" {
		return nil
	}
	meta["remainingItemCount"] = []int64{-1, 0, 1, 1 << 40, 1<<63 - 1}[t.dice.IntN(5)]
	return t.answer(doc)
}

// older returns the honest list of the state before all others.
func (t *telling) older() *said {
	query := url.Values{"resourceVersion": {t.facts.Before}, "resourceVersionMatch": {string(metav1.ResourceVersionMatchExact)}}
	old := t.askFor(t.path, query.Encode())
	if !old.ok() || metaOf(old.doc) == nil {
		return nil
	}
	return t.answer(like(old.doc))
}

func olderPage(t *telling) *said {
	if len(itemsOf(t.list())) == 0 {
		return nil
	}
	return t.older()
}

// olderList is told only to a client that has had a newer list: by the first one alone,
// nobody could tell.
func olderList(t *telling) *said {
	t.mu.Lock()
	known := t.honest[t.key()] > 0
	t.mu.Unlock()
	if !known {
		return nil
	}
	return t.older()
}

func lacksOwners(t *telling) *said {
	doc := t.full()
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
