package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestTablesAreAskedForInTheShorterWay(t *testing.T) {
	for name, test := range map[string]struct {
		seen, shown int // Pods of one namespace
		want        []string
	}{
		"a few are asked for one by one":            {seen: 2, shown: 2, want: []string{"pods/p0", "pods/p1"}},
		"many that are all there is, as their list": {seen: 12, shown: 12, want: []string{"pods"}},
		"many of much more, one by one": {seen: 200, shown: 9, want: []string{
			"pods/p0", "pods/p1", "pods/p2", "pods/p3", "pods/p4", "pods/p5", "pods/p6", "pods/p7", "pods/p8",
		}},
		"a tenth of a namespace, as its list": {seen: 200, shown: 20, want: []string{"pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			var pods []object.Object
			for i := range test.seen {
				pods = append(pods, st.Pod(fmt.Sprintf("ns/p%d", i)))
			}
			var shown []object.Identity
			for _, p := range pods[:test.shown] {
				shown = append(shown, p.Identity)
			}
			var got []string
			for _, r := range tableRequests(st.New(st.Listing(pods...)), shown) {
				asked := r.at.Type.Resource
				if r.at.Name != "" {
					asked += "/" + r.at.Name
				}
				got = append(got, asked)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
