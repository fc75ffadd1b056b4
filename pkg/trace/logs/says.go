package logs

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// says gives the sink what a line says: once for each owner that it speaks of, and nothing if that is of no interest.
func (r *reader) says(t time.Time, of *fileForms, e entry, in *around) error {
	if e.message == "Unhandled Error" {
		e = entry{e.values["err"], map[string]string{}}
	}
	if of == byFile[anEvent] {
		e = ofEvent(e)
	}
	f, applies := of.find(&e)
	switch {
	case f == nil, f.common && r.source.Form == "":
		return nil
	case !r.is(trace.FormManagerLog, in):
		return errNothing
	}
	r.source.Verbosity = max(r.source.Verbosity, f.level)
	if !applies || f.says == "" {
		return nil
	}
	return r.give(t, f, &e)
}

// give gives the sink what a line of a form says.
func (r *reader) give(t time.Time, f *form, e *entry) error {
	line := trace.Line{Time: t, Place: r.place, Says: f.says, By: f.by, Policy: cmp.Or(f.policy, e.values["propagationPolicy"]), Text: f.text}
	if before, key, ok := strings.Cut(f.text, "{"); ok {
		key, after, _ := strings.Cut(key, "}")
		text := e.values[key]
		if strings.HasPrefix(text, "{") {
			_, text = namespacedName(text)
		}
		line.Text = before + text + after
	}
	if !f.complete(&line, e) {
		return errUnclear
	}
	given := f.says == trace.OwnerWaits
	for _, list := range ownerLists[f.says] {
		for _, line.Owner = range identities(e.values[list.key]) {
			line.Says = list.says
			given = given || line.Says == f.says
			r.to.Line(&line)
		}
	}
	if !given {
		line.Says = f.says
		r.to.Line(&line)
	}
	return nil
}

// ownerLists are the values that list owners, and what that says of each.
var ownerLists = map[trace.LineKind][]struct {
	key  string
	says trace.LineKind
}{
	trace.OwnerExists:      {{"owner", trace.OwnerExists}},
	trace.OwnerWaits:       {{"solid", trace.OwnerExists}, {"dangling", trace.Owned}, {"waitingForDependentsDeletion", trace.OwnerWaits}},
	trace.RemovesReference: {{"waitingForDependentsDeletion", trace.OwnerWaits}, {"dangling", trace.RemovesReference}},
}

// find returns the form of a line, and whether its condition applies. It adds the values that are in a sentence.
func (f *fileForms) find(e *entry) (found *form, applies bool) {
	for _, found = range f.messages[strings.TrimSuffix(e.message, ".")] {
		if found.applies(e.values) {
			return found, true
		}
	}
	if found != nil {
		return found, false
	}
	for _, s := range f.sentences {
		if !strings.HasPrefix(e.message, s.begin) {
			continue
		}
		if m := s.pattern.FindStringSubmatch(e.message); m != nil {
			for i, name := range s.pattern.SubexpNames() {
				e.values[name] = m[i]
			}
			return s.form, s.applies(e.values)
		}
	}
	return nil, false
}

func (f *form) applies(values map[string]string) bool {
	key, value, conditional := strings.Cut(f.when, "=")
	switch {
	case conditional && values[key] != value:
		return false
	case f.says == trace.Processes: // an object that is only known from references to it, so far, might not exist
		return values["virtual"] != "true"
	}
	return f.file != graph || f.says != trace.Gone || values["eventType"] == "delete"
}

// alone reports whether a line is about no object.
func (f *form) alone() bool {
	return f.says == "" || f.says == trace.Started || f.says == trace.Syncs || f.says == trace.NotWorking
}

// complete adds to a line whom it is about, and the owner if it has one. It reports false if that is not clear.
func (f *form) complete(line *trace.Line, e *entry) (clear bool) {
	values := e.values
	if f.alone() {
		if f.says != trace.NotWorking {
			return true
		}
		line.Text = e.message
		for _, key := range []string{"gv", "groupVersion", "groups", "resource", "error", "err"} {
			if values[key] != "" {
				line.Text += ": " + values[key]
			}
		}
		return true
	}
	line.Object, clear = f.object(values)
	owns := true
	switch {
	case f.says == trace.OwnerInForeground && clear:
		line.Owner = line.Object
		line.Object, clear = identity(values["dependent"])
	case values["ownerName"] != "":
		line.Owner = object.Identity{APIVersion: values["ownerVersion"], Kind: values["ownerKind"], Name: values["ownerName"]}
	case f.says == trace.OwnerElsewhere, f.says == trace.OwnerNotFound, f.says == trace.OwnerKnownAbsent:
		if line.Owner, owns = identity(values["owner"]); f.file == anEvent {
			line.Owner.Namespace = "" // it is where the owner is not
		}
	}
	return clear && owns
}

// object returns the object that a line is about. It reports false if that is not clear.
func (f *form) object(values map[string]string) (id object.Identity, clear bool) {
	switch {
	case f.by == trace.RoleNamespace: // all in a namespace
		return object.Identity{Namespace: values["namespace"]}, values["namespace"] != ""
	case f.kind != "":
		i := strings.LastIndexByte(f.kind, '/')
		id.APIVersion, id.Kind = f.kind[:i], f.kind[i+1:]
		id.Namespace, id.Name = namespacedName(values[strings.ToLower(id.Kind)])
		if id.Kind != "Namespace" {
			id.Namespace = cmp.Or(id.Namespace, values["namespace"])
		}
		clear = id.Name != "" && (id.Namespace != "" || id.Kind == "Namespace")
		if values["who"] == id.Kind+"/"+id.Name { // of an Event
			id.UID = types.UID(values["uid"])
		}
		elsewhere := values["who"] != "" && id.Namespace != values["namespace"] // an Event speaks of its own namespace
		return id, clear && !elsewhere && !strings.ContainsAny(id.Name+id.Namespace, " /:[]")
	case f.says == trace.OwnerExists && strings.HasPrefix(values["item"], "[]"): // 1.13 to 1.15 name the owners first
		values["item"], values["owner"] = values["owner"], values["item"]
	}
	if item := values["item"]; item != "" || f.says == trace.Orphans {
		return identity(cmp.Or(item, values["owner"]))
	}
	id = object.Identity{APIVersion: values["apiVersion"], Kind: values["kind"], UID: types.UID(cmp.Or(values["objectUID"], values["uid"]))}
	if id.Namespace, id.Name = namespacedName(values["object"]); id.Namespace == "" {
		id.Namespace = values["namespace"]
	}
	return id, id.UID != "" || f.file == anEvent && id.Name != ""
}

// namespacedName reads klog.ObjectRef, as text or as JSON.
func namespacedName(s string) (namespace, name string) {
	if ref, err := value(s).object(nil); err == nil {
		return ref.get("namespace").text(), ref.get("name").text()
	}
	if namespace, name, ok := strings.Cut(s, "/"); ok {
		return namespace, name
	}
	return "", s
}

// goReference is how Go writes a reference, before 1.27, and what objectReference adds; klogReference is how klog of 1.27 does.
var (
	goReference   = regexp.MustCompile(`v1\.OwnerReference\{APIVersion:"([^"]*)", Kind:"([^"]*)", Name:"([^"]*)", UID:"([^"]*)", [^{}]*\}(?:, Namespace:"([^"]*)"\}$)?`)
	klogReference = regexp.MustCompile(`\{APIVersion:([^ "]*) Kind:([^ "]*) Name:([^ "]*) UID:([^ "]*) Controller:\S* BlockOwnerDeletion:[^ }]*\}`)
)

// identities reads a list of references. Those that are not clear are left out.
func identities(s string) (all []object.Identity) {
	if json.Unmarshal([]byte(s), &all) == nil {
		return all
	}
	for _, pattern := range []*regexp.Regexp{goReference, klogReference} {
		for _, m := range pattern.FindAllStringSubmatch(s, -1) {
			id := object.Identity{APIVersion: m[1], Kind: m[2], Name: m[3], UID: types.UID(m[4])}
			if len(m) > 5 {
				id.Namespace = m[5]
			}
			all = append(all, id)
		}
	}
	return all
}

// identity reads an object or an owner: as String of objectReference in pkg/controller/garbagecollector/graph.go writes it, in
// JSON, or in a notation of Go. It reports false if the text can be read in two ways, because a name has the separators in it.
func identity(s string) (id object.Identity, clear bool) {
	if strings.HasPrefix(s, `{"`) {
		id = value(s).identity()
		return id, id.UID != ""
	}
	inner, isBracketed := strings.CutPrefix(strings.TrimSuffix(s, "]"), "[")
	if !isBracketed {
		all := identities(s)
		if len(all) != 1 || strings.Count(s, " Name:") > 1 || strings.Count(s, " UID:") > 1 {
			return id, false
		}
		return all[0], all[0].UID != ""
	}
	of, rest, _ := strings.Cut(inner, ", namespace: ")
	namespace, rest, _ := strings.Cut(rest, ", name: ")
	name, uid, inOrder := strings.Cut(rest, ", uid: ")
	i := strings.LastIndexByte(of, '/')
	for _, separator := range []string{", namespace: ", ", name: ", ", uid: "} {
		inOrder = inOrder && strings.Count(inner, separator) == 1
	}
	if !inOrder || i < 0 || uid == "" || !strings.HasSuffix(s, "]") {
		return id, false
	}
	return object.Identity{APIVersion: of[:i], Kind: of[i+1:], Namespace: namespace, Name: name, UID: types.UID(uid)}, true
}
