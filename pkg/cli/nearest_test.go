package cli

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
)

func TestNearest(t *testing.T) {
	candidates := []string{"shop", "shop-eu", "stop", "ship", "sop", "default", "kube-system", "shop", ""}
	for typed, want := range map[string][]string{
		"shpo":         {"shop"}, // letters swapped
		"shopp":        {"shop"},
		"shoq":         {"shop"},
		"shp":          {"ship", "shop", "sop"},
		"kube-sysem":   {"kube-system"},
		"kubesystem":   {"kube-system"},
		"production":   nil,
		"x":            nil,
		"defaultdebug": nil,
		"Shop":         {"shop"},
		"kub":          {"kube-system"}, // it begins with that
		"ku":           nil,
		"kube":         {"kube-system"}, // which says more than the names that differ by a few letters
	} {
		if got := Nearest(typed, candidates); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestCheckRules(t *testing.T) {
	if err := CheckRules(audit.IDs()); err != nil {
		t.Error(err)
	}
	if err := CheckRules(nil); err != nil {
		t.Error(err)
	}
	if err := CheckRules([]string{"self-owner", "Self-Owner"}); err == nil || err.Error() != `there is no rule "Self-Owner". Did you mean self-owner?` {
		t.Errorf("got %v", err)
	}
}
