package logs

import (
	"fmt"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// body is an object in an answer of a server.
type body struct {
	fields
	raw              value
	apiVersion, kind string
}

// bodies calls yield with the object that an answer is, or with those in a list, which get its type, as those of built-in
// types have none. A Status is among the objects.
func (v value) bodies(yield func(b *body) error) error {
	if !v.begins('{') {
		return nil
	}
	b, err := v.body()
	kind, isList := strings.CutSuffix(b.kind, "List")
	items := b.get("items")
	switch {
	case err != nil:
		return err
	case !isList || b.get("metadata").get("name") != nil:
		return yield(b)
	case items == nil:
		return nil
	}
	_, err = items.each('[', nil, func(_, raw value) error {
		item, err := raw.body()
		if err != nil {
			return err
		}
		if item.kind == "" && item.apiVersion == "" {
			item.kind, item.apiVersion = kind, b.apiVersion
		}
		return yield(item)
	})
	return err
}

func (v value) body() (*body, error) {
	o, err := v.object(nil)
	return &body{o, v, shared(o.get("apiVersion").text()), shared(o.get("kind").text())}, err
}

func (b *body) isStatus() bool { return b.kind == "Status" && b.apiVersion == "v1" }

const ofMeta = metav1.GroupName + "/"

// isObject reports whether the body is an object of the API, or the metadata of one, rather than an answer
// that no one can create.
func (b *body) isObject() bool {
	return b.get("metadata").begins('{') && !b.isStatus() && (!strings.HasPrefix(b.apiVersion, ofMeta) || b.isPartial())
}

// isPartial reports whether the body is the metadata of an object.
func (b *body) isPartial() bool {
	return b.kind == "PartialObjectMetadata" && strings.HasPrefix(b.apiVersion, ofMeta)
}

// isWhole reports whether the body is a whole object.
func (b *body) isWhole() bool {
	return b.isObject() && !b.isPartial() && b.apiVersion != "" && b.kind != ""
}

// A server keeps no object of more than a few MiB.
const maxMetadata = 2 << 20

// seen returns what a body says of an object.
func (b *body) seen(as *trace.RequestTarget) (trace.Seen, error) {
	if len(b.get("metadata")) > maxMetadata {
		return trace.Seen{}, fmt.Errorf("it has metadata of more than %d MiB", maxMetadata>>20)
	}
	meta, err := b.meta()
	if err != nil {
		return trace.Seen{}, err
	}
	for _, t := range []*metav1.Time{&meta.CreationTimestamp, meta.DeletionTimestamp} {
		if !t.IsZero() && !possible(t.Time) {
			return trace.Seen{}, errTime
		}
	}
	apiVersion, kind := b.apiVersion, b.kind
	if b.isPartial() {
		apiVersion, kind = shared(schema.GroupVersion{Group: as.Group, Version: as.Version}.String()), ""
	}
	seen := trace.Seen{Object: object.FromMeta(apiVersion, kind, meta, true)}
	share(&seen.Object, as)
	if node := b.get("spec").get("nodeName").text(); node != "" && seen.IsPod() {
		seen.Node = &object.PodNode{Name: node, State: object.NodeUnknown}
	}
	return seen, nil
}

// meta decodes the metadata but for what is most of it.
func (b *body) meta() (*metav1.ObjectMeta, error) {
	var m struct {
		metav1.ObjectMeta
		Annotations   skipped `json:"annotations"`
		ManagedFields skipped `json:"managedFields"`
	}
	return &m.ObjectMeta, b.get("metadata").decode(&m)
}

type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

// share keeps equal texts of requests, of millions in a log, in memory once.
func share(o *object.Object, with *trace.RequestTarget) {
	o.Namespace = shared(o.Namespace)
	if o.Name == with.Name {
		o.Name = with.Name
	}
	if o.UID == with.UID {
		o.UID = with.UID
	}
	for i := range o.Owners {
		r := &o.Owners[i]
		r.APIVersion, r.Kind = shared(r.APIVersion), shared(r.Kind)
	}
	for i, f := range o.Finalizers {
		o.Finalizers[i] = shared(f)
	}
}

func shared(s string) string { return unique.Make(s).Value() }
