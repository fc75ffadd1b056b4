package read

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// FuzzTable checks that there are cells only for objects with a UID, and not more than rows.
func FuzzTable(f *testing.F) {
	f.Add([]byte(`{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Ready"},{"name":"Status"},{"name":"Age"},{"name":"Desired"}],"rows":[{"cells":["a","1/1","Running","5d",3],"object":{"metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"1"}}}]}`))
	f.Add([]byte(`{"columnDefinitions":[{"name":"READY"},{"name":"ready"}],"rows":[{"cells":[],"object":{"metadata":{"uid":"u"}}},{"cells":[null,{"a":[1]}],"object":{"metadata":{"uid":"v"}}},{"object":null}]}`))
	f.Add([]byte(`{"rows":[{"cells":[1e999]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var table metav1.Table
		if json.Unmarshal(raw, &table) != nil {
			return
		}
		into := map[types.UID]object.Columns{}
		readTable(&table, client.Query{Type: clustertest.Pods}, into)
		if _, nameless := into[""]; nameless || len(into) > len(table.Rows) {
			t.Errorf("%d rows have the cells %v", len(table.Rows), into)
		}
	})
}

func TestTableRequests(t *testing.T) {
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
				pod := st.Pod(fmt.Sprintf("ns/p%d", i))
				pod.ResourceVersion = "7"
				pods = append(pods, pod)
			}
			var shown []*object.Object
			for i := range test.shown {
				shown = append(shown, &pods[i])
			}
			var got []string
			for _, r := range tableRequests(st.New(st.Listing(pods...)), shown) {
				asked := r.query.Type.Resource
				if r.query.Name != "" {
					asked += "/" + r.query.Name
				}
				if want := pods[0].ResourceVersion; r.query.Name != "" && r.version != want {
					t.Errorf("%s is requested with the resourceVersion %q, want %q", asked, r.version, want)
				}
				got = append(got, asked)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
