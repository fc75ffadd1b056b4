package main

import (
	"flag"
	"fmt"
	"strconv"
)

// way is one way to ask for all lists.
type way struct {
	Page    int  // objects a page; 0: no pages
	Cached  bool // resourceVersion=0: as the server's cache has it, which knows no pages
	Streams int  // lists in flight
	Gzip    bool // whether the answers may be compressed
}

// auditsWay is how audit asks unless told otherwise.
var auditsWay = way{Page: 5000, Streams: 8, Gzip: true}

// ways are all that are tried.
func ways() []way {
	var out []way
	for _, gzip := range []bool{false, true} {
		for _, streams := range []int{2, 4, 8} {
			for _, page := range []int{0, 500, 1000, 5000, 20_000} {
				out = append(out, way{Page: page, Streams: streams, Gzip: gzip})
			}
			out = append(out, way{Cached: true, Streams: streams, Gzip: gzip})
		}
	}
	return out
}

func (w way) String() string {
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

func (w *way) register(flags *flag.FlagSet) {
	flags.IntVar(&w.Page, "page", 0, "")
	flags.BoolVar(&w.Cached, "cached", false, "")
	flags.IntVar(&w.Streams, "streams", 1, "")
	flags.BoolVar(&w.Gzip, "gzip", false, "")
}

func (w way) args() []string {
	return []string{
		"-page=" + strconv.Itoa(w.Page), "-cached=" + strconv.FormatBool(w.Cached),
		"-streams=" + strconv.Itoa(w.Streams), "-gzip=" + strconv.FormatBool(w.Gzip),
	}
}
