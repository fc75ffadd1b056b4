package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// enough are as many names as anybody reads.
const enough = 500

// Names are the names of a type's objects that begin with what was typed, in a
// namespace or, where that is empty, everywhere. Where there are more than enough,
// they are a part that has no longer beginning in common than all have: a shell types
// that ahead, and would type a wrong one if it was shown any part. So there are no
// names where there is an error.
func (c *Cluster) Names(ctx context.Context, t snapshot.Type, namespace, typed string) ([]string, error) {
	if strings.ContainsAny(typed, "/%") {
		return nil, nil // no name has them
	}
	j := job{of: t, namespace: namespace}
	if namespace != "" || !t.Namespaced { // else the list is not sorted by name
		if names, err := c.leap(ctx, j, typed); err == nil {
			return names, nil
		}
	}
	return c.through(ctx, j, typed)
}

// leap goes straight to the first name that begins with what was typed and, where one
// page does not hold all of them, over those that begin alike to the next.
func (c *Cluster) leap(ctx context.Context, j job, typed string) ([]string, error) {
	reading := c.paging(j, false, nil)
	defer reading.close()
	names := roll{typed: typed}
	options := metav1.ListOptions{Limit: enough}
	for from := typed; ; from = names.common + behind {
		options.Continue = placeOf(from)
		objects, page, err := reading.page(ctx, options, nil, mostObjects)
		if err != nil {
			return nil, err
		}
		if len(objects) > 0 && objects[0].Name < from || len(objects) == 0 && page.Continue != "" {
			return nil, errors.New("the server lists from another place than it was asked for")
		}
		names.add(objects)
		beyond := len(objects) > 0 && !strings.HasPrefix(objects[len(objects)-1].Name, typed)
		if page.Continue == "" || beyond || names.common == typed {
			return names.names, nil
		}
		options.Limit = 1 // one that begins otherwise shows where
	}
}

// behind sorts behind all that a name may go on with.
const behind = "\U0010FFFF"

// through reads the list from its beginning.
func (c *Cluster) through(ctx context.Context, j job, typed string) ([]string, error) {
	reading := c.paging(j, false, newPace(2)) // a page, and the next
	defer reading.close()
	names := roll{typed: typed}
	for at := (pages{}); ; {
		objects, page, err := reading.page(ctx, metav1.ListOptions{Limit: c.options.ChunkSize, Continue: at.at}, nil, mostObjects)
		if err != nil {
			return nil, err
		}
		names.add(objects)
		if len(names.names) >= enough && names.common == typed {
			return names.names, nil
		}
		more, err := at.next(page, firstOf(objects), len(objects))
		switch {
		case err != nil:
			return nil, err
		case !more:
			return names.names, nil
		}
	}
}

// roll is enough of the names that begin with what was typed, and what they have in
// common.
type roll struct {
	typed, common string
	names         []string
}

// add takes no more than enough names, but for those that begin otherwise.
func (r *roll) add(objects []*object.Object) {
	for _, o := range objects {
		switch {
		case !strings.HasPrefix(o.Name, r.typed):
			continue
		case len(r.names) == 0:
			r.common = o.Name
		case len(r.names) >= enough && strings.HasPrefix(o.Name, r.common):
			continue
		}
		r.names = append(r.names, o.Name)
		for !strings.HasPrefix(o.Name, r.common) {
			_, last := utf8.DecodeLastRuneInString(r.common)
			r.common = r.common[:len(r.common)-last]
		}
	}
}

// placeOf is where a list begins with the first name that is not before this one. It is
// what a server itself hands out for the rest of a list as it is by now (rv -1), and
// which servers of all versions agree on ("a public API struct and cannot change",
// k8s.io/apiserver pkg/storage/continue.go). One that does not refuses it.
func placeOf(name string) string {
	if name == "" {
		return ""
	}
	token, _ := json.Marshal(struct { // strings and numbers always encode
		Version         string `json:"v"`
		ResourceVersion int64  `json:"rv"`
		Start           string `json:"start"`
	}{"meta.k8s.io/v1", -1, name})
	return base64.RawURLEncoding.EncodeToString(token)
}
