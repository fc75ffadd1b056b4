package main

import (
	"flag"
	"testing"
)

func TestListMethodRoundTrip(t *testing.T) {
	for name, methods := range map[string][]listMethod{"of the states": states[0].listMethods(), "of a namespace": namespaceListMethods(), "over a slow link": slowLinkListMethods()} {
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
