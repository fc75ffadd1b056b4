package proxy

import (
	"net/http"
	"slices"
)

// Discovery is one document under each root (APIGroupDiscoveryList), or a document with the
// groups (APIVersions, APIGroupList) and one for each version (APIResourceList).

func (t *falseResponse) discovered() map[string]any {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	return deepCopy(honest.doc)
}

func emptyDiscovery(t *falseResponse) *response {
	doc := t.discovered()
	for _, field := range []string{"items", "groups", "versions"} {
		if _, has := doc[field]; has {
			doc[field] = []any{}
			return t.answer(doc)
		}
	}
	return nil
}

func otherDiscovery(t *falseResponse) *response {
	doc := t.discovered()
	if doc == nil {
		return nil
	}
	kinds := []string{"APIResourceList", "APIGroupList", "APIVersions", "PartialObjectMetadataList", "List"}
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == doc["kind"] })
	doc["kind"] = kinds[t.dice.IntN(len(kinds))]
	return t.inJSON(doc)
}

func noDiscovery(t *falseResponse) *response {
	if t.dice.IntN(2) == 0 {
		return text(http.StatusNotFound, "text/plain; charset=utf-8", "404 page not found\n")
	}
	return &response{code: http.StatusNotFound, contentType: contentJSON, body: []byte(
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`)}
}

// lacksGroup omits one group. All groups under /apis have APIServices.
func lacksGroup(t *falseResponse) *response {
	doc := t.discovered()
	for _, field := range []string{"items", "groups"} {
		if groups, _ := doc[field].([]any); len(groups) > 0 {
			i := t.dice.IntN(len(groups))
			doc[field] = slices.Delete(groups, i, i+1)
			return t.answer(doc)
		}
	}
	return nil
}

// eachResource applies change to the resources of every version of the groups for which matches
// returns true. It returns nil if nothing has changed.
func (t *falseResponse) eachResource(doc map[string]any, matches func(group string) bool, change func(resources []any) ([]any, bool)) *response {
	changed := false
	apply := func(version map[string]any) {
		resources, _ := version["resources"].([]any)
		if left, did := change(resources); did {
			version["resources"], changed = left, true
		}
	}
	for _, item := range itemsOf(doc) {
		group, _ := item.(map[string]any)
		versions, _ := group["versions"].([]any)
		for _, v := range versions {
			if version, _ := v.(map[string]any); matches(textOf(metaOf(item), "name")) {
				apply(version)
			}
		}
	}
	if doc["kind"] == "APIResourceList" && matches(t.group) {
		apply(doc)
	}
	if !changed {
		return nil
	}
	return t.answer(doc)
}

func nameOf(resource any) string {
	r, _ := resource.(map[string]any)
	if name := textOf(r, "resource"); name != "" {
		return name
	}
	return textOf(r, "name")
}

// drop omits one of the types from the matching groups.
func (t *falseResponse) drop(matches func(group string) bool, types []string) *response {
	gone := types[t.dice.IntN(len(types))]
	return t.eachResource(t.discovered(), matches, func(resources []any) ([]any, bool) {
		left := slices.DeleteFunc(slices.Clone(resources), func(r any) bool { return nameOf(r) == gone })
		return left, len(left) < len(resources)
	})
}

func (t *falseResponse) custom(group string) bool { return group == t.facts.CustomGroup }

// customTypes returns the types of the custom group.
func (t *falseResponse) customTypes() []string {
	var out []string
	for _, o := range t.facts.Objects {
		if t.custom(o.Group) && !slices.Contains(out, o.Resource) {
			out = append(out, o.Resource)
		}
	}
	return out
}

func lacksCustomType(t *falseResponse) *response {
	types := t.customTypes()
	if len(types) == 0 {
		return nil
	}
	return t.drop(t.custom, types)
}

func lacksVerbs(t *falseResponse) *response {
	gone := []string{"delete", "list", "watch", "get", "patch"}[t.dice.IntN(5)]
	return t.eachResource(t.discovered(), t.custom, func(resources []any) ([]any, bool) {
		for _, resource := range resources {
			r, _ := resource.(map[string]any)
			verbs, _ := r["verbs"].([]any)
			r["verbs"] = slices.DeleteFunc(verbs, func(v any) bool { return v == gone })
		}
		return resources, len(resources) > 0
	})
}

// lostType is told only to a client that has discovered all types before. Otherwise no client
// could know that a built-in type is missing.
func lostType(t *falseResponse) *response {
	t.mu.Lock()
	known := t.honest[t.key()] > 0
	t.mu.Unlock()
	if !known || len(t.facts.Objects) == 0 {
		return nil
	}
	lost := t.facts.Objects[t.dice.IntN(len(t.facts.Objects))]
	return t.drop(func(group string) bool { return group == lost.Group }, []string{lost.Resource})
}
