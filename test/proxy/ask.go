package proxy

import (
	"net/http"
	"strings"
)

// sort is what a request is for.
type sort string

// The sorts.
const (
	discovery sort = "discovery"
	list      sort = "list"
	get       sort = "get"
	watch     sort = "watch"
	write     sort = "write"
)

// ask is what a request asks for. The name is empty where it is about no single
// object.
type ask struct {
	sort           sort
	resource, name string
	continued      bool // a list, from its second page on
	whole          bool // whole objects, not their metadata
}

// askOf reads it from the method and the path, which is /api/VERSION/… or
// /apis/GROUP/VERSION/….
func askOf(r *http.Request) ask {
	query := r.URL.Query()
	a := ask{sort: discovery, continued: query.Get("continue") != "", whole: r.Header.Get("Accept") == "application/json"}
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
		a.sort = write
	case query.Get("watch") != "":
		a.sort = watch
	case a.name != "":
		a.sort = get
	default:
		a.sort = list
	}
	return a
}
