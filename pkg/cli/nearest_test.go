package cli

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	candidates := []string{"shop", "shop-eu", "stop", "ship", "sop", "default", "kube-system", "shop", ""}
	for typed, want := range map[string][]string{
		"shpo":         {"ship", "shop", "sop"}, // two edits each
		"shopp":        {"shop"},
		"shoq":         {"shop"},
		"shp":          {"ship", "shop", "sop"},
		"kube-sysem":   {"kube-system"},
		"kubesystem":   {"kube-system"},
		"production":   nil,
		"x":            nil,
		"defaultdebug": nil,
	} {
		if got := Nearest(typed, candidates); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
