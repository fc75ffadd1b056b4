package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	acceptObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptList   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	acceptTable  = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

// protobuf is how every answer begins that is in Kubernetes' protobuf.
const protobuf = "k8s\x00"

// retryAfter bounds how often client-go itself honours a Retry-After.
const retryAfter = 2

// again is how a transient failure is asked for again.
var again = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 4, Jitter: 0.2, Steps: 3}

// get asks for a type, or for one object of it. The name must be valid as a
// path segment.
func (c *Cluster) get(t snapshot.Type, namespace, name, accept string) *rest.Request {
	return on(c.rest.Get(), t, namespace, name).SetHeader("Accept", accept).MaxRetries(retryAfter)
}

// on leads a request to a type, or to one object of it.
func on(r *rest.Request, t snapshot.Type, namespace, name string) *rest.Request {
	root := []string{"apis", t.Group, t.Version}
	if t.Group == "" {
		root = []string{"api", t.Version}
	}
	for _, segment := range append(root, t.Resource) {
		if !snapshot.ValidName(segment) {
			return r.Name(segment) // which makes it fail: joined, such a path would lead elsewhere
		}
	}
	r = r.AbsPath(root...)
	if t.Namespaced && namespace != "" {
		r = r.Namespace(namespace)
	}
	r = r.Resource(t.Resource)
	if name != "" {
		r = r.Name(name)
	}
	return r
}

// do sends the request, again where that may help, within the time of one request.
func (c *Cluster) do(ctx context.Context, request func() *rest.Request) (result rest.Result, err error) {
	err = c.persist(ctx, func(ctx context.Context) error {
		result = request().Do(ctx)
		return result.Error()
	})
	return result, err
}

// persist asks, again where that may help, within the time of one request.
func (c *Cluster) persist(ctx context.Context, ask func(context.Context) error) error {
	if c.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	var failed error
	err := wait.ExponentialBackoffWithContext(ctx, again, func(ctx context.Context) (bool, error) {
		failed = ask(ctx)
		return failed == nil || !transient(failed), nil
	})
	if failed == nil && wait.Interrupted(err) {
		return ctx.Err()
	}
	return failed
}

// decode reads a metadata answer of either encoding. A server that knows
// neither PartialObjectMetadata nor protobuf sends whole objects as JSON; their
// metadata is read all the same (gc-semantics 1.5). An answer that is a failure
// is the error that it tells of.
func decode[T any](result rest.Result, into *T) error {
	raw, err := result.Raw()
	if err != nil {
		return err
	}
	return decodeRaw(raw, into)
}

func decodeRaw[T any](raw []byte, into *T) error {
	encoding := runtime.ContentTypeJSON
	if bytes.HasPrefix(raw, []byte(protobuf)) {
		encoding = runtime.ContentTypeProtobuf
	}
	codec, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), encoding)
	obj, _, err := codec.Serializer.Decode(raw, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return json.Unmarshal(raw, into)
	}
	if err != nil {
		return err
	}
	if status, ok := obj.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
		return apierrors.FromObject(status)
	}
	got, ok := obj.(any).(*T)
	if !ok {
		return fmt.Errorf("the server sent a %T", obj)
	}
	*into = *got
	return nil
}

var (
	errNoMetadata = errors.New("the answer holds no object metadata")
	errBroken     = errors.New("the answer is broken: it holds what is no text")
)

// whole says whether a metadata can be told apart from an answer of another shape,
// and from one that was broken on its way: no server names an object by what is no
// text, for which a decoder of JSON puts U+FFFD.
func whole(m *metav1.PartialObjectMetadata) error {
	if m.Name == "" || m.UID == "" {
		return errNoMetadata
	}
	if id := string(m.UID) + m.Name + m.Namespace; !utf8.ValidString(id) || strings.ContainsRune(id, utf8.RuneError) {
		return errBroken
	}
	return nil
}

// about is whole, of the very object that was asked for: what a UID is compared
// with must not be the answer to somebody else's question.
func about(m *metav1.PartialObjectMetadata, t snapshot.Type, namespace, name string) error {
	err := whole(m)
	if err == nil && (m.Name != name || t.Namespaced && m.Namespace != namespace) {
		return fmt.Errorf("the answer is of another object, %q", m.Name)
	}
	return err
}
