package snapshot

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Type is one resource in one served version.
type Type struct {
	Group      string   `json:"group"`
	Version    string   `json:"version"`
	Resource   string   `json:"resource"` // the plural, as in URLs
	Kind       string   `json:"kind"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Namespaced bool     `json:"namespaced,omitempty"`
	Verbs      []string `json:"verbs,omitempty"`
	// Preferred marks the version of the resource that the collector uses
	// (docs/gc-semantics.md#monitored-types).
	Preferred bool `json:"preferred,omitempty"`
}

// GroupResource returns the group and resource, which all versions share.
func (t Type) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}
}

// Address returns where an object of the type is. The namespace of a cluster-scoped one is empty.
func (t Type) Address(namespace, name string) object.Address {
	return object.Address{Type: t.GroupResource(), Namespace: namespace, Name: name}
}

// APIVersion returns group/version, or only the version in the core group.
func (t Type) APIVersion() string {
	return schema.GroupVersion{Group: t.Group, Version: t.Version}.String()
}

// String returns resource.group, as kubectl names a type.
func (t Type) String() string { return qualified(t.Resource, t.Group) }

// Path returns the path of an object of the type on the API server.
func (t Type) Path(namespace, name string) string {
	path := "/apis/" + t.APIVersion()
	if t.Group == "" {
		path = "/api/" + t.Version
	}
	if namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + t.Resource + "/" + url.PathEscape(name)
}

// Monitored reports whether the collector lists and watches this type: the preferred version, with
// the verbs delete, list and watch, and not one of the two Event types
// (docs/gc-semantics.md#monitored-types).
func (t Type) Monitored() bool {
	if !t.Preferred || t.isEvents() {
		return false
	}
	return t.Can("delete") && t.Can("list") && t.Can("watch")
}

// Watched reports whether the collector watches the objects of this type, in this or another version.
func (t Type) Watched() bool {
	t.Preferred = true // a served version that is not the preferred one leads to the same objects
	return t.Monitored()
}

func (t Type) isEvents() bool {
	return t.Resource == "events" && (t.Group == "" || t.Group == "events.k8s.io")
}

// Can reports whether the server offers the verb for this type.
func (t Type) Can(verb string) bool { return slices.Contains(t.Verbs, verb) }

// Compare orders types by group, resource, version and kind.
func (t Type) Compare(o Type) int {
	return cmp.Or(
		strings.Compare(t.Group, o.Group),
		strings.Compare(t.Resource, o.Resource),
		strings.Compare(t.Version, o.Version),
		strings.Compare(t.Kind, o.Kind),
	)
}

// Find returns the types that a word on the command line names, as kubectl reads it:
// plural, singular, short name or kind in any case, optionally followed by .group or
// .version.group. Without a version, only preferred versions match. Several groups may
// match; the core group comes first.
func Find(types []Type, word string) []Type {
	name, rest, hasDot := strings.Cut(strings.ToLower(word), ".")
	var found []Type
	for _, t := range types {
		if !t.hasName(name) {
			continue
		}
		switch {
		case !hasDot && t.Preferred,
			hasDot && t.Preferred && rest == t.Group,
			hasDot && rest == t.Version+"."+t.Group,
			hasDot && t.Group == "" && (rest == t.Version || rest == t.Version+"."):
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, Type.Compare)
	return found
}

func (t Type) hasName(lower string) bool {
	return lower != "" && (lower == t.Resource || lower == t.Singular || lower == strings.ToLower(t.Kind) || slices.Contains(t.ShortNames, lower))
}

func qualified(resource, group string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}
