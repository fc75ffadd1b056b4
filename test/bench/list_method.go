package main

import (
	"flag"
	"fmt"
	"strconv"
)

// listMethod is a way to request all lists.
type listMethod struct {
	Page    int  // objects a page; 0: no pages
	Cached  bool // resourceVersion=0: lists from the server's cache, without pages
	Streams int  // lists in flight
	Gzip    bool // whether responses may be compressed
}

// auditListMethod is the default of audit for a nearby server since Kubernetes 1.33.
var auditListMethod = listMethod{Streams: 8}

// namespaceListMethods returns the methods to try for one namespace, where each list has
// one page.
func namespaceListMethods() []listMethod {
	var out []listMethod
	for _, streams := range []int{2, 4, 8, 16} {
		for _, gzip := range []bool{false, true} {
			out = append(out, listMethod{Streams: streams, Gzip: gzip}, listMethod{Cached: true, Streams: streams, Gzip: gzip})
		}
	}
	return out
}

// slowLinkListMethods returns the methods to try over a slow link. The last is
// uncompressed.
func slowLinkListMethods() []listMethod {
	return []listMethod{
		{Streams: 8, Gzip: true},
		{Streams: 16, Gzip: true},
		{Cached: true, Streams: 8, Gzip: true},
		{Page: 5000, Streams: 8, Gzip: true},
		{Page: 5000, Streams: 16, Gzip: true},
		{Page: 10_000, Streams: 8, Gzip: true},
		{Streams: 8},
	}
}

func (w listMethod) String() string {
	pages := "no pages"
	switch {
	case w.Cached:
		pages = "no pages, resourceVersion=0"
	case w.Page > 0:
		pages = fmt.Sprintf("pages of %d", w.Page)
	}
	packed := "not compressed"
	if w.Gzip {
		packed = "gzip"
	}
	return fmt.Sprintf("%s, %d streams, %s", pages, w.Streams, packed)
}

func (w *listMethod) register(flags *flag.FlagSet) {
	flags.IntVar(&w.Page, "page", 0, "")
	flags.BoolVar(&w.Cached, "cached", false, "")
	flags.IntVar(&w.Streams, "streams", 1, "")
	flags.BoolVar(&w.Gzip, "gzip", false, "")
}

func (w listMethod) args() []string {
	return []string{
		"-page=" + strconv.Itoa(w.Page), "-cached=" + strconv.FormatBool(w.Cached),
		"-streams=" + strconv.Itoa(w.Streams), "-gzip=" + strconv.FormatBool(w.Gzip),
	}
}
