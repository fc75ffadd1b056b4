package read

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	strict "k8s.io/apimachinery/pkg/util/json" // is case-sensitive

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// maxConcurrentManifests limits how many objects that are requested one by one are held.
	maxConcurrentManifests = 16
	// manifestPageSize is the number of whole objects per page. If a page is too long to be read, its
	// objects are requested one by one.
	manifestPageSize = 500
)

// Manifests reads whole objects and saves them with their current metadata, never concurrently
// and in the same order for the same answers. The JSON is the server's, byte by byte, except that
// missing apiVersion and kind are added to list items; save may keep it.
//
// saved has the metadata of the saved objects. failed has a *client.RequestError for each object
// that could not be read, or the error of save. An object in neither is gone or was replaced. The
// error is the context's.
func Manifests(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, wanted []object.Identity, save func(object.Object, json.RawMessage) error) (saved map[types.UID]*object.Object, failed map[types.UID]error, err error) {
	c = c.WithOwnMemory()
	m := &manifestReader{
		client: c, save: save, saved: map[types.UID]*object.Object{}, failed: map[types.UID]error{}, wanted: make(map[types.UID]object.Identity, len(wanted)),
		objects: scan.NewObjectReader(c, seen), view: snapshot.NewView(seen),
	}
	for _, o := range wanted {
		m.wanted[o.UID] = o
	}
	lists, single := client.SplitBatches(m.view, seen, wanted, client.KindOf, client.KindInNamespace)
	for _, l := range lists {
		rest, err := m.list(ctx, l)
		if err != nil {
			return nil, nil, err
		}
		single = append(single, rest...)
	}
	return m.saved, m.failed, m.readByName(ctx, single)
}

type manifestReader struct {
	client  *client.Client
	objects *scan.ObjectReader
	view    *snapshot.View
	save    func(object.Object, json.RawMessage) error
	wanted  map[types.UID]object.Identity // not yet delivered
	saved   map[types.UID]*object.Object
	failed  map[types.UID]error
}

// ByName returns the objects that Manifests requests one by one, which requires the right to get
// them.
func ByName(seen *snapshot.Snapshot, wanted []object.Identity) []object.Identity {
	_, one := client.SplitBatches(snapshot.NewView(seen), seen, wanted, client.KindOf, client.KindInNamespace)
	return one
}

// list delivers the wanted objects of a list page by page. It returns those that the list lacks, or
// that were not read because an answer was wrong, a token expired, or the list is long. A list that
// lacks an object does not prove that it is gone, so the caller must request them by name.
func (m *manifestReader) list(ctx context.Context, l client.Batch) (rest []object.Identity, err error) {
	err = m.client.EachPage(ctx, l.Query, metav1.ListOptions{Limit: manifestPageSize}, func(items []json.RawMessage, total int) (bool, error) {
		for _, item := range items {
			if err := m.deliver(l.Query, item); err != nil {
				return false, err
			}
		}
		return !l.Query.Type.Can("get") || client.WorthListing(len(l.Wanted), total), nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	rest = slices.DeleteFunc(slices.Clone(l.Wanted), func(o object.Identity) bool {
		_, waits := m.wanted[o.UID]
		return !waits
	})
	if err == nil || apierrors.IsResourceExpired(err) || isAnswerError(err) {
		return rest, nil
	}
	for _, o := range rest {
		m.fail(o, err)
	}
	return nil, nil
}

func (m *manifestReader) fail(o object.Identity, err error) {
	var failed *client.RequestError
	if !errors.As(err, &failed) {
		failed = client.NewRequestError("read", o, client.ClassifyRequest(err), err)
	}
	m.failed[o.UID] = failed
}

// isAnswerError reports whether a request failed because of the content of its answer. Requesting
// the objects one by one may then help.
func isAnswerError(err error) bool {
	return errors.As(err, new(*client.AnswerError)) || errors.As(err, new(*client.AnswerTooLongError))
}

// readByName requests the objects one by one, several at a time.
func (m *manifestReader) readByName(ctx context.Context, objects []object.Identity) error {
	type answer struct {
		raw json.RawMessage
		Err error
	}
	for batch := range slices.Chunk(objects, maxConcurrentManifests) {
		answers, err := client.InParallel(ctx, m.client.Config.Concurrency, batch, func(o object.Identity) answer {
			raw, err := m.get(ctx, o)
			if err == nil {
				err = m.client.Memory.Take(int64(len(raw)))
			}
			return answer{raw, err}
		})
		if err != nil {
			return err
		}
		for i, a := range answers {
			o := batch[i]
			m.client.Memory.Release(int64(len(a.raw)))
			if a.Err == nil && a.raw != nil {
				q, _ := client.QueryOf(m.view, o)
				a.Err = m.deliver(q, a.raw)
				if _, waits := m.wanted[o.UID]; waits && a.Err == nil {
					a.Err = m.verifyReplaced(ctx, o)
				}
			}
			if a.Err != nil {
				m.fail(o, a.Err)
			}
		}
	}
	return nil
}

// verifyReplaced returns nil if it is proven that o was replaced by another object.
func (m *manifestReader) verifyReplaced(ctx context.Context, o object.Identity) error {
	now, err := m.objects.ReadState(ctx, m.view, o)
	if err == nil && now != nil {
		err = client.NewAnswerError("it is of another object of that name, which is still there")
	}
	return err
}

// get reads one whole object. It returns nil if the object is proven to be gone.
func (m *manifestReader) get(ctx context.Context, o object.Identity) (json.RawMessage, error) {
	q, err := client.QueryOf(m.view, o)
	if err != nil || !q.Type.Can("get") {
		return nil, client.NewRequestError("read", o, snapshot.Unverified, client.ErrNotServed)
	}
	raw, err := m.client.Fetch(ctx, q, client.AcceptWhole, metav1.ListOptions{})
	if m.objects.IsAbsent(ctx, m.view, q, err) {
		return nil, nil
	}
	return bytes.TrimSpace(raw), err
}

// deliver verifies an object and saves it, once, if it is wanted. Invalid UTF-8 shows that
// the answer was damaged; a decoder would replace it by U+FFFD.
func (m *manifestReader) deliver(q client.Query, raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return client.NewAnswerError("it is broken: it contains data that is not text")
	}
	var read struct {
		metav1.TypeMeta
		Metadata struct {
			metav1.ObjectMeta
			ManagedFields json.RawMessage `json:"managedFields"` // not decoded, since that takes longer than all the rest
		} `json:"metadata"`
	}
	if err := strict.Unmarshal(raw, &read); err != nil {
		return fmt.Errorf("decode an object of %s: %w", q.Type, err)
	}
	if read.Kind != "" || read.APIVersion != "" || q.Name != "" {
		if err := client.VerifyKind(read.TypeMeta, q.Type, "", false); err != nil {
			return err
		}
	}
	found := metav1.PartialObjectMetadata{TypeMeta: read.TypeMeta, ObjectMeta: read.Metadata.ObjectMeta}
	if err := client.VerifyObject(q, found.Namespace, found.Name, string(found.UID), found.ResourceVersion); err != nil {
		return err
	}
	o, ok := m.wanted[found.UID]
	switch {
	case !ok:
		return nil
	case o.Namespace != found.Namespace || o.Name != found.Name:
		return client.NewAnswerError("%q has the UID of %s", found.Name, o)
	}
	delete(m.wanted, found.UID)
	now := object.FromMeta(o.APIVersion, o.Kind, &found, false)
	if err := m.save(now, withType(raw, found.TypeMeta, q.Type)); err != nil {
		m.failed[found.UID] = err
	} else {
		m.saved[found.UID] = &now
	}
	return nil
}

// withType adds apiVersion and kind to an object that lacks them.
func withType(raw json.RawMessage, has metav1.TypeMeta, t snapshot.Type) json.RawMessage {
	out := json.RawMessage("{")
	add := func(name, has, value string) {
		if has == "" {
			quoted, _ := json.Marshal(value) // encoding a string cannot fail
			out = fmt.Appendf(out, "%q:%s,", name, quoted)
		}
	}
	add("apiVersion", has.APIVersion, t.APIVersion())
	add("kind", has.Kind, t.Kind)
	return append(out, raw[1:]...) // an object with metadata is not empty
}
