package wording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

func TestCount(t *testing.T) {
	for want, n := range map[string]int{
		"0 objects": 0, "1 object": 1, "2 objects": 2, "999 objects": 999, "1,000 objects": 1000, "1,234,567 objects": 1234567,
	} {
		if diff := cmp.Diff(want, wording.Count(n, "object")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestList(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"nothing is empty":                  {nil, ""},
		"one name":                          {names[:1], "a"},
		"as many as the limit":              {names[:3], "a, b, c"},
		"more are counted":                  {names, "a, b, c and 1 more"},
		"very many are set apart by commas": {make([]string, 1003), ", ,  and 1,000 more"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wording.List(c.names, 3)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
