package logs

import (
	"cmp"
	"regexp"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// plainEvent is an Event in a log before 1.20.
var plainEvent = regexp.MustCompile(`(?s)^Event\(\w+\.ObjectReference\{Kind:"([^"]*)", ?Namespace:"([^"]*)", ?Name:"([^"]*)", ?UID:"([^"]*)", ?APIVersion:"([^"]*)", .*\}\): type: '\w*' ?reason: '(\w+)' (.*)$`)

// ofEvent returns what a line says that logs an Event.
func ofEvent(e entry) entry {
	if m := plainEvent.FindStringSubmatch(e.message); m != nil {
		return happened(m[6], m[7], object.Identity{APIVersion: m[5], Kind: m[1], Namespace: m[2], Name: m[3], UID: types.UID(m[4])})
	}
	about := object.Identity{APIVersion: e.values["apiVersion"], Kind: e.values["kind"]}
	about.Namespace, about.Name = namespacedName(e.values["object"])
	return happened(e.values["reason"], e.values["message"], about)
}

// happened returns an entry whose message is the reason and the message of an Event, and whose values are about whom.
func happened(reason, message string, about object.Identity) entry {
	name := about.Namespace + "/" + about.Name
	e := entry{reason + ": " + message, map[string]string{
		"apiVersion": about.APIVersion, "kind": about.Kind, "namespace": about.Namespace, "object": name, "uid": string(about.UID), "who": about.Kind + "/" + about.Name,
	}}
	if about.Kind == "Pod" { // unless the message names one
		e.values["pod"] = name
	}
	return e
}

// hasEvents reports whether a version of an API has Events.
func hasEvents(apiVersion value) bool {
	return apiVersion.is("v1") || apiVersion.is("events.k8s.io/v1") || apiVersion.is("events.k8s.io/v1beta1")
}

// isEvent reports whether an object is an Event of the API.
func isEvent(o fields) bool { return o.get("kind").is("Event") && hasEvents(o.get("apiVersion")) }

// listed reads an object of a list, as kubectl get -o json or the API writes it: the latter leaves out its type. Only Events
// are of interest.
func (r *reader) listed(v value, list string) error {
	o, err := v.object(r.scratch[0][:0])
	r.scratch[0] = o
	if untyped := o.get("kind") == nil && o.get("apiVersion") == nil; err != nil || !isEvent(o) && !(untyped && list == "EventList") {
		return cmp.Or(err, errNothing)
	}
	return r.eventObject(o)
}

// eventObject reads an Event of the API. It says the same as the line of a log, once for the first time and once for the last.
func (r *reader) eventObject(o fields) error {
	if !r.is(events, &around{}) {
		return errNothing
	}
	meta := o.get("metadata")
	first, err := timeIn(o.get("firstTimestamp"), o.get("deprecatedFirstTimestamp"), o.get("eventTime"), meta.get("creationTimestamp"))
	last, lastErr := timeIn(o.get("series").get("lastObservedTime"), o.get("lastTimestamp"), o.get("deprecatedLastTimestamp"))
	if last.IsZero() {
		last = first
	}
	switch {
	case err != nil || lastErr != nil:
		return cmp.Or(err, lastErr)
	case !possible(first) || !possible(last):
		return errTime
	}
	r.written.Cover(first, last)
	about := o.get("involvedObject").identity()
	if o.get("involvedObject") == nil {
		about = o.get("regarding").identity()
	}
	e := happened(o.get("reason").text(), cmp.Or(o.get("message").text(), o.get("note").text()), about)
	f, _ := byFile[anEvent].find(&e)
	if f == nil || f.says == "" {
		return nil
	}
	if about.Namespace != meta.get("namespace").text() {
		return errUnclear
	}
	if err := r.give(first, f, &e); err != nil || last.Equal(first) {
		return err
	}
	return r.give(last, f, &e)
}
