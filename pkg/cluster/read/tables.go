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

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Tables returns by UID what kubectl get would show of the objects. Objects that the server did
// not render are left out. The error is the context's.
func Tables(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, objects []*object.Object) (map[types.UID]object.Columns, error) {
	requests := tableRequests(seen, objects)
	limit := c.Config.SmallConcurrency
	if slices.ContainsFunc(requests, func(r tableRequest) bool { return r.query.Name == "" }) {
		limit = c.Config.Concurrency // a list of tables is large and held as a whole
	}
	answers, err := client.InParallel(ctx, limit, requests, func(r tableRequest) map[types.UID]object.Columns {
		return renderTable(ctx, c, r)
	})
	shown := make(map[types.UID]bool, len(objects))
	for _, o := range objects {
		shown[o.UID] = true
	}
	out := map[types.UID]object.Columns{}
	for _, rows := range answers {
		for uid, cells := range rows {
			if shown[uid] {
				out[uid] = cells
			}
		}
	}
	return out, err
}

// tableRequest asks for the table of a list or of one object.
type tableRequest struct {
	query client.Query
	// version is the resourceVersion at which the scan read the object; empty for a list. The
	// server may answer from its cache with that version or a newer one, which is much cheaper
	// than to read etcd.
	version string
}

// tableRequests returns the requests for the objects in a stable order, lists first.
func tableRequests(seen *snapshot.Snapshot, objects []*object.Object) []tableRequest {
	identities, versions := make([]object.Identity, len(objects)), make(map[object.Identity]string, len(objects))
	for i, o := range objects {
		identities[i], versions[o.Identity] = o.Identity, o.ResourceVersion
	}
	view := snapshot.NewView(seen)
	lists, single := client.SplitBatches(view, seen, identities, client.KindInNamespace)
	out := make([]tableRequest, 0, len(lists)+len(single))
	for _, l := range lists {
		out = append(out, tableRequest{query: l.Query})
	}
	for _, o := range single {
		if q, err := client.QueryOf(view, o); err == nil && q.Type.Can("get") {
			out = append(out, tableRequest{q, versions[o]})
		}
	}
	return out
}

// renderTable reads a table page by page. A server that cannot render tables returns another
// kind, which yields no cells.
func renderTable(ctx context.Context, c *client.Client, r tableRequest) map[types.UID]object.Columns {
	out := map[types.UID]object.Columns{}
	options := metav1.ListOptions{ResourceVersion: r.version}
	if r.query.Name == "" {
		options.Limit = c.Config.ChunkSize
	}
	for list := (client.Pages{}); ; options.Continue = list.Continue {
		raw, err := c.Fetch(ctx, r.query, client.AcceptTable, options)
		if err != nil {
			return out
		}
		var table metav1.Table
		if json.Unmarshal(raw, &table) != nil || table.Kind != "Table" || !slices.Contains(client.MetadataVersions, table.APIVersion) {
			return out
		}
		readTable(&table, r.query, out)
		if more, err := list.Next(table.ListMeta, len(table.Rows)); !more || err != nil || r.query.Name != "" {
			return out
		}
	}
}

// readTable adds the cells of the objects that the query asks for.
func readTable(table *metav1.Table, q client.Query, into map[types.UID]object.Columns) {
	column := func(name string) int {
		return slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool {
			return strings.EqualFold(c.Name, name)
		})
	}
	ready, desired, status, age := column("Ready"), column("Desired"), column("Status"), column("Age")
	for _, row := range table.Rows {
		var meta metav1.PartialObjectMetadata
		if json.Unmarshal(row.Object.Raw, &meta) != nil || client.VerifyObject(q, meta.Namespace, meta.Name, string(meta.UID), meta.ResourceVersion) != nil {
			continue
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
		cells := object.Columns{Ready: cell(ready), Status: cell(status), Age: cell(age)}
		if n := cell(desired); n != "" && cells.Ready != "" && !strings.Contains(cells.Ready, "/") {
			cells.Ready += "/" + n // as kubectl does
		}
		into[meta.UID] = cells
	}
}
