package read

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Usages returns the Usage of objects, by UID: of each that has a name, and where the name is empty of all that the scan
// found of that kind in the namespace, or everywhere. This is not metadata, so whole objects are requested. c is nil for
// a snapshot from a file, which may hold them. Where that is not known, there is a gap. The error is the context's.
func Usages(ctx context.Context, c *client.Client, s *snapshot.Snapshot, view *snapshot.View, wanted []object.Identity) (map[types.UID]object.Usage, []snapshot.Gap, error) {
	var questions []client.Batch // with the scanned objects whose Usage is unknown
	var unread []snapshot.Gap
	slices.SortFunc(wanted, object.Identity.Compare)
	for _, w := range slices.Compact(wanted) {
		if everywhere := client.KindOf(w); w != everywhere && slices.Contains(wanted, everywhere) {
			continue
		}
		t := snapshot.GuessType(w.GroupVersionKind())
		t.Namespaced = w.Kind != "ClusterRoleBinding"
		q := client.Batch{Query: client.Query{Type: *t, Namespace: w.Namespace, Name: w.Name}}
		for _, o := range s.Objects {
			_, known := s.Usages[o.UID]
			if !known && o.Kind == w.Kind && o.GroupVersionKind().Group == t.Group && (w.Namespace == "" || w.Namespace == o.Namespace) && (w.Name == "" || w.Name == o.Name) {
				q.Wanted = append(q.Wanted, o.Identity)
			}
		}
		gap := snapshot.Gap{Group: t.Group, Resource: t.Resource, Namespace: w.Namespace, Reason: snapshot.NotInFile}
		switch unlisted := view.GapAt(t.GroupResource(), w.Namespace); {
		case w.Name == "" && unlisted != nil:
			gap.Reason = unlisted.Reason
			unread = append(unread, gap)
		case len(q.Wanted) > 0 && c == nil:
			unread = append(unread, gap)
		case len(q.Wanted) > 0:
			questions = append(questions, q)
		}
	}
	if c == nil {
		return s.Usages, unread, nil
	}
	type answer struct {
		usages map[types.UID]object.Usage
		err    error
	}
	answers, err := client.InParallel(ctx, c.Config.SmallConcurrency, questions, func(q client.Batch) answer {
		found, err := readUsages(ctx, c, q.Query)
		return answer{found, err}
	})
	all := map[types.UID]object.Usage{}
	for i, a := range answers {
		q, scanned := questions[i].Query, questions[i].Wanted
		if a.err != nil && !client.IsNotFound(a.err, q.Type.GroupResource(), q.Name) {
			unread = append(unread, client.GapOf(q, a.err))
		} else {
			for _, o := range scanned { // what is gone since then uses nothing
				all[o.UID] = a.usages[o.UID]
			}
		}
		maps.Copy(all, a.usages)
	}
	return all, unread, err
}

// readUsages reads the object of a query, or every object of its list, page by page.
func readUsages(ctx context.Context, c *client.Client, q client.Query) (map[types.UID]object.Usage, error) {
	out, valid := map[types.UID]object.Usage{}, true
	each := func(whole json.RawMessage) bool {
		var is struct{ Metadata struct{ UID types.UID } }
		u, ok := object.UsageOf(object.Identity{APIVersion: q.Type.APIVersion(), Kind: q.Type.Kind}, whole)
		if valid = ok && json.Unmarshal(whole, &is) == nil; valid {
			out[is.Metadata.UID] = u
		}
		return valid
	}
	var whole json.RawMessage
	var err error
	if q.Name == "" {
		err = client.EachWhole(ctx, c, q, metav1.ListOptions{Limit: manifestPageSize}, each)
	} else if err = client.GetWhole(ctx, c, q, &whole); err == nil {
		each(whole)
	}
	if !valid {
		err = client.NewAnswerError("a %s in it is malformed", q.Type.Kind)
	}
	return out, err
}
