package proxy

import (
	"net/http"
	"strings"
)

type requestClass string

const (
	discovery requestClass = "discovery"
	list      requestClass = "list"
	get       requestClass = "get"
	watch     requestClass = "watch"
	write     requestClass = "write"
)

// requestInfo is what a request is about. The name is empty unless it is about a single object.
type requestInfo struct {
	class          requestClass
	resource, name string
	continued      bool // a list, after its first page
	whole          bool // whole objects, not their metadata
}

// requestInfoOf parses the method and the path, which is /api/VERSION/… or
// /apis/GROUP/VERSION/….
func requestInfoOf(r *http.Request) requestInfo {
	query := r.URL.Query()
	a := requestInfo{class: discovery, continued: query.Get("continue") != "", whole: r.Header.Get("Accept") == "application/json"}
	at := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case at[0] == "api" && len(at) > 2:
		at = at[2:]
	case at[0] == "apis" && len(at) > 3:
		at = at[3:]
	default:
		return a
	}
	if at[0] == "namespaces" && len(at) > 2 {
		at = at[2:]
	}
	a.resource = at[0]
	if len(at) > 1 {
		a.name = at[1]
	}
	switch {
	case r.Method != http.MethodGet:
		a.class = write
	case query.Get("watch") != "":
		a.class = watch
	case a.name != "":
		a.class = get
	default:
		a.class = list
	}
	return a
}
