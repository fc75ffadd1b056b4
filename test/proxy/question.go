package proxy

import (
	"net/http"
	"strings"
)

// shape is the form of objects in which a client wants its answer.
type shape string

// The shapes.
const (
	metadata shape = "metadata"
	whole    shape = "whole objects"
	table    shape = "table"
)

// question is an ask with everything that a lie depends on.
type question struct {
	ask
	method, path     string
	root             string // "api" or "apis" below these paths, or empty
	group, namespace string
	shape            shape
	review           bool // which rights the client has
}

func questionOf(r *http.Request) question {
	q := question{ask: askOf(r), method: r.Method, path: strings.TrimRight(r.URL.Path, "/"), shape: metadata}
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
	q.review = q.sort == write && q.group == "authorization.k8s.io"
	switch accept := r.Header.Get("Accept"); {
	case strings.Contains(accept, "as=Table"):
		q.shape = table
	case !strings.Contains(accept, "as="):
		q.shape = whole
	}
	return q
}

// The questions to which a kind of lie fits.

func anyAnswer(q *question) bool    { return q.sort != watch && q.path != "/version" }
func metadataList(q *question) bool { return q.sort == list && q.shape == metadata }
func laterPage(q *question) bool    { return metadataList(q) && q.continued }
func firstPage(q *question) bool    { return metadataList(q) && !q.continued }
func wholeList(q *question) bool    { return q.sort == list && q.shape == whole }
func wholeObject(q *question) bool  { return q.sort == get && q.shape == whole }
func anyObject(q *question) bool    { return q.sort == get && q.shape != table }
func anyTable(q *question) bool     { return q.shape == table }
func anyDiscovery(q *question) bool { return q.sort == discovery && q.root != "" }
func allOfARoot(q *question) bool   { return q.path == "/api" || q.path == "/apis" }
func allGroups(q *question) bool    { return q.path == "/apis" }
func anyReview(q *question) bool    { return q.review }
func watches(q *question) bool      { return q.sort == watch }
func deletes(q *question) bool      { return q.method == http.MethodDelete && q.name != "" }
func patches(q *question) bool      { return q.method == http.MethodPatch }

func creates(q *question) bool {
	return q.method == http.MethodPost && q.sort == write && !q.review
}
