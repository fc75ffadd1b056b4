package read

import (
	"context"
	"encoding/json"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Usages returns the Usage of objects, by UID: of each that has a name, and where the name is empty of all that the scan
// found of that kind in the namespace, or everywhere. This is not metadata, so whole objects are requested. c is nil for
// a snapshot from a file, which may hold them. Where that is not known, there is a gap, by the widest that was wanted. The
// error is the context's.
func Usages(ctx context.Context, c *client.Client, s *snapshot.Snapshot, view *snapshot.View, wanted []object.Identity) (map[types.UID]object.Usage, map[object.Identity]snapshot.Gap, error) {
	type question struct {
		client.Query
		of      object.Identity
		scanned []types.UID
	}
	var questions []question
	unread := map[object.Identity]snapshot.Gap{}
	for _, w := range widest(wanted) {
		t := snapshot.GuessType(w.GroupVersionKind())
		t.Namespaced = w.Kind != "ClusterRoleBinding"
		q := question{Query: client.Query{Type: *t, Namespace: w.Namespace, Name: w.Name}, of: w}
		for _, o := range s.Objects {
			_, known := s.Usages[o.UID]
			if !known && o.Kind == w.Kind && o.GroupVersionKind().Group == t.Group && (w.Namespace == "" || w.Namespace == o.Namespace) && (w.Name == "" || w.Name == o.Name) {
				q.scanned = append(q.scanned, o.UID)
			}
		}
		gap := snapshot.Gap{Group: t.Group, Resource: t.Resource, Namespace: w.Namespace, Reason: snapshot.NotInFile}
		switch unlisted := view.GapAt(t.GroupResource(), w.Namespace); {
		case w.Name == "" && unlisted != nil:
			gap.Reason = unlisted.Reason
			unread[w] = gap
		case len(q.scanned) > 0 && c == nil:
			unread[w] = gap
		case len(q.scanned) > 0:
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
	answers, err := client.InParallel(ctx, c.Config.SmallConcurrency, questions, func(q question) answer {
		found, err := readUsages(ctx, c, q.Query)
		return answer{found, err}
	})
	all := map[types.UID]object.Usage{}
	for i, a := range answers {
		q := questions[i]
		if a.err != nil && !client.IsNotFound(a.err, q.Type.GroupResource(), q.Name) {
			unread[q.of] = client.GapOf(q.Query, a.err)
		} else {
			for _, uid := range q.scanned { // what is gone since then uses nothing
				all[uid] = a.usages[uid]
			}
		}
		maps.Copy(all, a.usages)
	}
	return all, unread, err
}

// maxSingle is how many objects of a kind and namespace are requested one by one.
const maxSingle = 8

// widest returns what is wanted without what a wider list has, and lists in the place of many objects.
func widest(wanted []object.Identity) (out []object.Identity) {
	count, done := map[object.Identity]int{}, map[object.Identity]bool{}
	for _, w := range wanted {
		count[client.KindInNamespace(w)]++
		if w.Name == "" {
			count[w] += maxSingle
		}
	}
	for _, w := range wanted {
		here, everywhere := client.KindInNamespace(w), client.KindOf(w)
		if count[here] > maxSingle {
			w = here
		}
		if count[everywhere] > maxSingle {
			w = everywhere
		}
		if !done[w] {
			out = append(out, w)
		}
		done[w] = true
	}
	return out
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
