package main

import (
	"flag"
	"slices"
	"testing"
)

func TestListMethodRoundTrip(t *testing.T) {
	for name, methods := range map[string][]listMethod{"of few objects": listMethods(50_000), "of many": listMethods(500_000), "of a namespace": namespaceListMethods(), "over a slow link": slowLinkListMethods()} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, w := range methods {
				var got listMethod
				flags := flag.NewFlagSet("", flag.ContinueOnError)
				got.register(flags)
				if err := flags.Parse(w.args()); err != nil || got != w {
					t.Errorf("got %v, %v, want %v", got, err, w)
				}
				if seen[w.String()] {
					t.Errorf("two ways are called %q", w)
				}
				seen[w.String()] = true
			}
		})
	}
}

func TestListMethods(t *testing.T) {
	for name, c := range map[string]struct {
		objects int
		of      listMethod
		want    bool
	}{
		"audit's own, on few objects":      {50_000, auditListMethod, true},
		"audit's own, on many":             {500_000, auditListMethod, true},
		"small pages, on few objects":      {50_000, listMethod{Page: 500, Streams: 8}, true},
		"not small pages, on many":         {500_000, listMethod{Page: 500, Streams: 8}, false},
		"no pages, on many":                {500_000, listMethod{Streams: 2}, true},
		"watch-list, on many":              {500_000, listMethod{Watch: true, Streams: 2}, true},
		"no watch-list that is compressed": {50_000, listMethod{Watch: true, Streams: 2, Gzip: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := slices.Contains(listMethods(c.objects), c.of); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
