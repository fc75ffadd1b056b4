package main

import (
	"flag"
	"slices"
	"testing"
)

func TestWaysSurviveTheCommandLine(t *testing.T) {
	for name, of := range map[string][]way{"of few objects": ways(50_000), "of many": ways(500_000), "of a namespace": namespaceWays(), "over a slow link": slowWays()} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, w := range of {
				var got way
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

func TestWaysThatAreTried(t *testing.T) {
	for name, c := range map[string]struct {
		objects int
		of      way
		want    bool
	}{
		"audit's own, on few objects":      {50_000, auditsWay, true},
		"audit's own, on many":             {500_000, auditsWay, true},
		"small pages, on few objects":      {50_000, way{Page: 500, Streams: 8}, true},
		"not small pages, on many":         {500_000, way{Page: 500, Streams: 8}, false},
		"no pages, on many":                {500_000, way{Streams: 2}, true},
		"watch-list, on many":              {500_000, way{Watch: true, Streams: 2}, true},
		"no watch-list that is compressed": {50_000, way{Watch: true, Streams: 2, Gzip: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := slices.Contains(ways(c.objects), c.of); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
