package managerlog

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// wording is how a release says something.
type wording struct {
	says   trace.LineKind // empty: nothing of interest, but it tells the level
	level  int
	policy string // of Deletes, if the line does not have it
}

// messages are those of structured lines: of 1.27 and later and, where there are two, of 1.19 to 1.26.
var messages = map[string]wording{
	"Starting controller": {says: trace.Started},
	"Processing item":     {says: trace.Processes, level: 2},
	"Processing object":   {says: trace.Processes, level: 2},
	"Deleting item":       {says: trace.Deletes, level: 2},
	"Deleting object":     {says: trace.Deletes, level: 2},

	"at least one owner of item has FinalizerDeletingDependents, and the item itself has dependents, so it is going to be deleted in Foreground": {says: trace.Deletes, level: 2, policy: "Foreground"},

	"remove dangling references and waiting references for item":                         {says: trace.RemovesReference, level: 2},
	"item references an owner but does not match namespaces":                             {says: trace.OwnerElsewhere, level: 2},
	"item's owner is not found":                                                          {says: trace.OwnerNotFound, level: 5},
	"item's owner is not found, UID mismatch":                                            {says: trace.OwnerNotFound, level: 5},
	"according to the absentOwnerCache, item's owner does not exist":                     {says: trace.OwnerKnownAbsent, level: 5},
	"according to the absentOwnerCache, item's owner does not exist in namespace":        {says: trace.OwnerKnownAbsent, level: 5},
	"GraphBuilder process object":                                                        {says: trace.Gone, level: 5},
	"classify item's references":                                                         {says: trace.OwnerWaits, level: 5},
	"item has at least one existing owner, will not garbage collect":                     {level: 2},
	"item doesn't have an owner, continue on next item":                                  {level: 2},
	"remove DeleteDependents finalizer for item":                                         {level: 2},
	"adding dependent to attemptToDelete, because its owner is deletingDependents":       {says: trace.OwnerInForeground, level: 2},
	"add item to attemptToDelete, because it's waiting for its dependents to be deleted": {level: 2},
	"syncing garbage collector with updated resources from discovery":                    {level: 2},
	"no resource updates from discovery, skipping garbage collector sync":                {level: 5},
}

// sentences are the lines before 1.27 that are not structured. item is an identity in brackets.
var sentences = []struct {
	pattern *regexp.Regexp
	wording
}{
	{regexp.MustCompile(`^Starting garbage collector controller$`), wording{says: trace.Started}},
	{regexp.MustCompile(`^processing item (?<item>\[.*\])$`), wording{says: trace.Processes, level: 2}},
	{regexp.MustCompile(`^delete object (?<item>\[.*\]) with propagation policy (?<propagationPolicy>\w+)$`), wording{says: trace.Deletes, level: 2}},
	{regexp.MustCompile(`^at least one owner of object (?<item>\[.*\]) has FinalizerDeletingDependents, and the object itself has dependents, so it is going to be deleted in Foreground$`), wording{says: trace.Deletes, level: 2, policy: "Foreground"}},
	{regexp.MustCompile(`^remove dangling references .* for object (?<item>\[.*\])$`), wording{says: trace.RemovesReference, level: 2}},
	{regexp.MustCompile(`^node (?<item>\[.*\]) references an owner (?<owner>\[.*\]) but does not match namespaces$`), wording{says: trace.OwnerElsewhere, level: 2}},
	{regexp.MustCompile(`^adding (?<dependent>\[.*\]) to attemptToDelete, because its owner (?<item>\[.*\]) is deletingDependents$`), wording{says: trace.OwnerInForeground, level: 2}},
	{regexp.MustCompile(`^object (?<objectUID>\S+)'s owner (?<apiVersion>[^ ,]+)/(?<kind>[^ ,/]+), (?<name>.+?) is not found(?:, UID mismatch)?$`), wording{says: trace.OwnerNotFound, level: 5}},
	{regexp.MustCompile(`^according to the absentOwnerCache, object (?<objectUID>\S+)'s owner (?<apiVersion>[^ ,]+)/(?<kind>[^ ,/]+), (?<name>.+?) does not exist(?: in namespace \S*)?$`), wording{says: trace.OwnerKnownAbsent, level: 5}},
	{regexp.MustCompile(`^GraphBuilder process object: (?<apiVersion>[^ ,]+)/(?<kind>[^ ,/]+), namespace (?<namespace>[^ ,]*), name (?<name>[^ ,]+), uid (?<uid>[^ ,]+), event type (?<eventType>\w+)(?:, virtual=(?<virtual>\w+))?$`), wording{says: trace.Gone, level: 5}},
	{regexp.MustCompile(`^classify references of `), wording{level: 5}},
	{regexp.MustCompile(`^object .* has at least one existing owner: .*, will not garbage collect$`), wording{level: 2}},
	{regexp.MustCompile(`^syncing garbage collector with updated resources from discovery `), wording{level: 2}},
}

var errUnclear = errors.New("the object of the line is not clear")

// says returns what the collector says in e, without the time: once for each owner that it speaks of, and nothing
// if that is of no interest. The level is that of the line, or -1.
func (e *entry) says() ([]trace.Line, int, error) {
	w, known := messages[e.message]
	values := e.values
	if !known && (len(values) == 0 || values["msg"] != "") {
		w, values, known = sentence(e.message)
	}
	switch {
	case !known, w.says == trace.Started && values["controller"] != "garbagecollector" && e.message == "Starting controller":
		return nil, -1, nil
	case w.says == "",
		// An object that is only known from references to it, so far, might not exist.
		w.says == trace.Processes && values["virtual"] == "true",
		// Without the word the event might be the collector's own.
		w.says == trace.Gone && (values["eventType"] != "delete" || values["virtual"] != "false"):
		return nil, w.level, nil
	case w.says == trace.Started:
		return []trace.Line{{Says: w.says}}, w.level, nil
	}

	line := trace.Line{Says: w.says}
	ok := true
	switch {
	case w.says == trace.Gone:
		line.Object = object.Identity{
			APIVersion: values["apiVersion"], Kind: values["kind"],
			Namespace: values["namespace"], Name: values["name"], UID: types.UID(values["uid"]),
		}
		if name, has := values["object"]; has {
			line.Object.Namespace, line.Object.Name = namespacedName(name)
		}
	case values["objectUID"] != "":
		line.Object = object.Identity{UID: types.UID(values["objectUID"])}
		if name, has := values["object"]; has {
			line.Object.Namespace, line.Object.Name = namespacedName(name)
			line.Object.Kind = values["kind"]
		}
	default:
		line.Object, ok = identity(values["item"])
	}
	switch w.says {
	case trace.Deletes:
		if line.Policy = w.policy; line.Policy == "" {
			line.Policy = values["propagationPolicy"]
		}
	case trace.OwnerInForeground:
		var clear bool
		line.Owner = line.Object
		line.Object, clear = identity(values["dependent"])
		ok = ok && clear
	case trace.OwnerNotFound, trace.OwnerKnownAbsent, trace.OwnerElsewhere:
		var clear bool
		if owner, has := values["owner"]; has {
			line.Owner, clear = identity(owner)
		} else {
			line.Owner = object.Identity{APIVersion: values["apiVersion"], Kind: values["kind"], Name: values["name"]}
			clear = line.Owner.Name != ""
		}
		ok = ok && clear
	case trace.Started, trace.Processes, trace.OwnerWaits, trace.RemovesReference, trace.Gone:
	}
	switch {
	case !ok || line.Object.UID == "":
		return nil, -1, errUnclear
	case w.says == trace.OwnerWaits:
		return waits(line, values["waitingForDependentsDeletion"]), w.level, nil
	}
	return []trace.Line{line}, w.level, nil
}

// waits returns a line for each of the references, which since 1.28 are a list in JSON.
func waits(line trace.Line, references string) (out []trace.Line) {
	var owners []object.Identity
	if json.Unmarshal([]byte(references), &owners) != nil {
		return nil
	}
	for _, line.Owner = range owners {
		if line.Owner.UID != "" {
			out = append(out, line)
		}
	}
	return out
}

func sentence(message string) (wording, map[string]string, bool) {
	for _, s := range sentences {
		m := s.pattern.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		values := map[string]string{}
		for i, name := range s.pattern.SubexpNames() {
			values[name] = m[i]
		}
		return s.wording, values, true
	}
	return wording{}, nil, false
}

// namespacedName reads klog.ObjectRef, as text or as JSON.
func namespacedName(s string) (namespace, name string) {
	if strings.HasPrefix(s, "{") {
		var ref struct{ Namespace, Name string }
		_ = json.Unmarshal([]byte(s), &ref)
		return ref.Namespace, ref.Name
	}
	if namespace, name, ok := strings.Cut(s, "/"); ok {
		return namespace, name
	}
	return "", s
}

// bracketed is String of objectReference in pkg/controller/garbagecollector/graph.go; reference is how klog
// of 1.27 writes an owner reference, later ones write JSON.
var (
	bracketed = regexp.MustCompile(`^\[(.*)/([^/]*), namespace: (.*), name: (.*), uid: (.*)\]$`)
	reference = regexp.MustCompile(`^\{APIVersion:(.*) Kind:(.*) Name:(.*) UID:(.*) Controller:\S* BlockOwnerDeletion:\S*\}$`)
)

// identity reads an object or an owner. It reports false if the text can be read in two ways, because a name has
// the separators in it.
func identity(s string) (object.Identity, bool) {
	if strings.HasPrefix(s, `{"`) {
		var id object.Identity
		err := json.Unmarshal([]byte(s), &id)
		return id, err == nil && id.UID != ""
	}
	once := func(separators ...string) bool {
		for _, separator := range separators {
			if strings.Count(s, separator) != 1 {
				return false
			}
		}
		return true
	}
	if once(", namespace: ", ", name: ", ", uid: ") {
		m := bracketed.FindStringSubmatch(s)
		if m == nil {
			return object.Identity{}, false
		}
		return object.Identity{APIVersion: m[1], Kind: m[2], Namespace: m[3], Name: m[4], UID: types.UID(m[5])}, true
	}
	if m := reference.FindStringSubmatch(s); m != nil && once(" Kind:", " Name:", " UID:") {
		return object.Identity{APIVersion: m[1], Kind: m[2], Name: m[3], UID: types.UID(m[4])}, true
	}
	return object.Identity{}, false
}
