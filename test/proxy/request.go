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

// shape is the form of objects that a client requests.
type shape string

const (
	metadata shape = "metadata"
	whole    shape = "whole objects"
	table    shape = "table"
)

// requestDetails has everything about a request on which a lie depends.
type requestDetails struct {
	requestInfo
	method, path     string
	root             string // "api" or "apis" for these paths and paths below them, or empty
	group, namespace string
	shape            shape
	review           bool // an access review
}

func requestDetailsOf(r *http.Request) requestDetails {
	q := requestDetails{requestInfo: requestInfoOf(r), method: r.Method, path: strings.TrimRight(r.URL.Path, "/"), shape: metadata}
	at := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if at[0] == "api" || at[0] == "apis" {
		q.root = at[0]
	}
	q.group, _ = groupOf(r.URL.Path)
	for i := 2; i+2 < len(at); i++ {
		if at[i] == "namespaces" {
			q.namespace = at[i+1]
			break
		}
	}
	q.review = q.class == write && q.group == "authorization.k8s.io"
	switch accept := r.Header.Get("Accept"); {
	case strings.Contains(accept, "as=Table"):
		q.shape = table
	case !strings.Contains(accept, "as="):
		q.shape = whole
	}
	return q
}

// Predicates for the requests to which a lie applies.

func anyAnswer(q *requestDetails) bool    { return q.class != watch && q.path != "/version" }
func metadataList(q *requestDetails) bool { return q.class == list && q.shape == metadata }
func laterPage(q *requestDetails) bool    { return metadataList(q) && q.continued }
func firstPage(q *requestDetails) bool    { return metadataList(q) && !q.continued }
func wholeList(q *requestDetails) bool    { return q.class == list && q.shape == whole }
func wholeObject(q *requestDetails) bool  { return q.class == get && q.shape == whole }
func anyObject(q *requestDetails) bool    { return q.class == get && q.shape != table }
func anyTable(q *requestDetails) bool     { return q.shape == table }
func anyDiscovery(q *requestDetails) bool { return q.class == discovery && q.root != "" }
func apiRoots(q *requestDetails) bool     { return q.path == "/api" || q.path == "/apis" }
func allGroups(q *requestDetails) bool    { return q.path == "/apis" }
func anyReview(q *requestDetails) bool    { return q.review }
func watches(q *requestDetails) bool      { return q.class == watch }
func deletes(q *requestDetails) bool      { return q.method == http.MethodDelete && q.name != "" }
func patches(q *requestDetails) bool      { return q.method == http.MethodPatch }

func creates(q *requestDetails) bool {
	return q.method == http.MethodPost && q.class == write && !q.review
}
