package cluster

import (
	"net/http"
	"strings"
)

// verb is what a request does, in the words of an authorization (kubectl auth can-i).
type verb string

// The verbs. Discovery is about no object.
const (
	verbList      verb = "list"
	verbGet       verb = "get"
	verbWatch     verb = "watch"
	verbCreate    verb = "create"
	verbPatch     verb = "patch"
	verbDelete    verb = "delete"
	verbDiscovery verb = "discovery"
)

// verbOf tells by its method and path what a request does. base is the path at which
// the server is, where that is not the root.
func verbOf(r *http.Request, base string) verb {
	switch r.Method {
	case http.MethodPost:
		return verbCreate
	case http.MethodPatch, http.MethodPut:
		return verbPatch
	case http.MethodDelete:
		return verbDelete
	}
	at := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, base), "/"), "/")
	switch {
	case at[0] == "api" && len(at) > 2:
		at = at[2:] // api, version
	case at[0] == "apis" && len(at) > 3:
		at = at[3:] // apis, group, version
	default:
		return verbDiscovery
	}
	if at[0] == "namespaces" && len(at) > 2 {
		at = at[2:] // those are what is in a namespace
	}
	switch {
	case r.URL.Query().Get("watch") != "":
		return verbWatch
	case len(at) > 1:
		return verbGet
	}
	return verbList
}
