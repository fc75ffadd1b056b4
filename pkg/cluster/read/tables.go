package read

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Cells are what the server's own table says of an object. Each may be empty:
// not every type has every column.
type Cells struct{ Ready, Status, Age string }

// tableRequest is one request for tables: a list, or one object where the job has a name.
type tableRequest struct{ at client.Query }

// Tables asks the server to render objects of a look as kubectl get shows them,
// and answers the cells by UID. Objects the server did not render are left out. The
// error is the context's.
func Tables(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, objects []object.Identity) (map[types.UID]Cells, error) {
	asked := tableRequests(seen, objects)
	limit := c.Options.Small
	if slices.ContainsFunc(asked, func(r tableRequest) bool { return r.at.Name == "" }) {
		limit = c.Options.Concurrency // a list of tables is large, and held as a whole
	}
	answers, err := client.InParallel(ctx, limit, asked, func(r tableRequest) map[types.UID]Cells {
		return renderTable(ctx, c, r)
	})
	shown := make(map[types.UID]bool, len(objects))
	for _, o := range objects {
		shown[o.UID] = true
	}
	out := map[types.UID]Cells{}
	for _, rows := range answers {
		for uid, cells := range rows {
			if shown[uid] {
				out[uid] = cells
			}
		}
	}
	return out, err
}

// tableRequests are the requests for the objects, in a stable order, the long ones
// first.
func tableRequests(seen *snapshot.Snapshot, objects []object.Identity) []tableRequest {
	view := snapshot.NewView(seen)
	lists, single := client.SplitBatches(view, seen, objects, client.KindInNamespace)
	out := make([]tableRequest, 0, len(lists)+len(single))
	for _, l := range lists {
		out = append(out, tableRequest{l.Query})
	}
	for _, o := range single {
		m, ok := view.Map(o.APIVersion, o.Kind)
		if ok && m.Served && m.Type.Can("get") && snapshot.ValidName(o.Name) {
			out = append(out, tableRequest{client.Query{Type: m.Type, Namespace: o.Namespace, Name: o.Name}})
		}
	}
	return out
}

// renderTable reads one table, or all pages of one. A server that does not render
// tables answers with something else, which is no table and so no cells.
func renderTable(ctx context.Context, c *client.Client, r tableRequest) map[types.UID]Cells {
	out := map[types.UID]Cells{}
	options := metav1.ListOptions{Limit: c.Options.ChunkSize}
	for list := (client.Pages{}); ; options.Continue = list.Continue {
		result, err := c.Do(ctx, func() *rest.Request {
			request := c.Get(r.at.Type, r.at.Namespace, r.at.Name, client.AcceptTable)
			if r.at.Name == "" {
				request = request.SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.SchemeGroupVersion)
			}
			return request
		})
		if err != nil {
			return out
		}
		raw, err := result.Raw()
		if err != nil {
			return out
		}
		var table metav1.Table
		if json.Unmarshal(raw, &table) != nil || table.Kind != "Table" || !slices.Contains(client.MetadataVersions, table.APIVersion) {
			return out
		}
		first := readTable(&table, r.at, out)
		if more, err := list.Next(table.ListMeta, first, len(table.Rows)); !more || err != nil || r.at.Name != "" {
			return out
		}
	}
}

// readTable reads the rows about objects that j asks for, and returns where the first of
// them lives, or empty.
func readTable(table *metav1.Table, j client.Query, into map[types.UID]Cells) (first string) {
	column := func(name string) int {
		return slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool {
			return strings.EqualFold(c.Name, name)
		})
	}
	ready, desired, status, age := column("Ready"), column("Desired"), column("Status"), column("Age")
	for _, row := range table.Rows {
		var meta metav1.PartialObjectMetadata
		if json.Unmarshal(row.Object.Raw, &meta) != nil || client.VerifyObject(j, meta.Namespace, meta.Name, string(meta.UID), meta.ResourceVersion) != nil {
			continue
		}
		if first == "" {
			first = meta.Namespace + "/" + meta.Name
		}
		cell := func(i int) string {
			if i < 0 || i >= len(row.Cells) || row.Cells[i] == nil {
				return ""
			}
			if n, ok := row.Cells[i].(float64); ok {
				return strconv.FormatFloat(n, 'f', -1, 64)
			}
			return fmt.Sprint(row.Cells[i])
		}
		cells := Cells{Ready: cell(ready), Status: cell(status), Age: cell(age)}
		if n := cell(desired); n != "" && cells.Ready != "" && !strings.Contains(cells.Ready, "/") {
			cells.Ready += "/" + n // the way kubectl shows what has no column of its own for it
		}
		into[meta.UID] = cells
	}
	return first
}
