package plugin

import (
	"strings"
	"testing"
)

func TestNameWithDash(t *testing.T) {
	defer func(was string) { name = was }(name)
	name = "owner-gc"
	for got, want := range map[string]string{
		Command():                         "kubectl owner-gc",
		File():                            "kubectl-owner_gc",
		strings.Join(Line("why"), " "):    "kubectl owner-gc why",
		Named("kubectl gc, kubectl-gc -"): "kubectl owner-gc, kubectl-owner_gc -",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
