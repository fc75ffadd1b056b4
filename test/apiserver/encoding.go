package apiserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Content types.
const (
	InJSON     = "application/json"
	InProtobuf = "application/vnd.kubernetes.protobuf"
)

// metaVersion is the API version of metadata and tables.
var metaVersion = schema.GroupVersion{Group: metav1.GroupName, Version: "v1"}

// WriteJSON answers with a document.
func WriteJSON(w http.ResponseWriter, code int, document any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", InJSON)
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document) // fails if the client has disconnected
}

// Message is a document that can be sent in protobuf.
type Message interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// WriteProtobuf answers with a document in protobuf.
func WriteProtobuf(w http.ResponseWriter, contentType string, code int, m Message) {
	raw, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	apiVersion, kind := m.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_, _ = w.Write(Enveloped(apiVersion, kind, raw)) // fails if the client has disconnected
}

// Enveloped returns a message with the prefix that Kubernetes puts before protobuf.
func Enveloped(apiVersion, kind string, raw []byte) []byte {
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	out, err := envelope.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), out...)
}

// RespondError answers with the Status of an error, in the first form that the client accepts for
// whole objects: the API server has no other form of an error.
func RespondError(w http.ResponseWriter, r *http.Request, err error) {
	var of apierrors.APIStatus
	switch {
	case !errors.As(err, &of):
		of = internalError(err).(apierrors.APIStatus)
	case apierrors.IsUnexpectedServerError(err) && !apierrors.IsStoreReadError(err):
		http.Error(w, of.Status().Message, int(of.Status().Code))
		return
	}
	status := of.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	forms := strings.Split(r.Header.Get("Accept"), ",")
	first := slices.IndexFunc(forms, func(form string) bool { return form == InProtobuf || form == InJSON })
	if first >= 0 && forms[first] == InProtobuf {
		WriteProtobuf(w, InProtobuf, int(status.Code), &status)
	} else {
		WriteJSON(w, int(status.Code), status)
	}
}

// WithoutProtobuf returns the request of a client that accepts only JSON.
func WithoutProtobuf(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	forms := slices.DeleteFunc(strings.Split(r.Header.Get("Accept"), ","), func(form string) bool { return strings.HasPrefix(form, InProtobuf) })
	r.Header.Set("Accept", strings.Join(forms, ","))
	return r
}

// accepts returns the first form that the client asks for: whole objects ("") or
// PartialObjectMetadata, PartialObjectMetadataList or Table, in JSON or protobuf.
// Whole objects are sent in JSON alone.
func accepts(r *http.Request) (as string, protobuf bool) {
	for _, one := range strings.Split(r.Header.Get("Accept"), ",") {
		_, after, _ := strings.Cut(one, "as=")
		as, _, _ = strings.Cut(after, ";")
		protobuf = strings.HasPrefix(one, InProtobuf)
		if !protobuf || as != "" {
			return as, protobuf
		}
	}
	return "", false
}

func partial(o *Object) *metav1.PartialObjectMetadata {
	out := o.PartialObjectMetadata
	out.SetGroupVersionKind(metaVersion.WithKind("PartialObjectMetadata"))
	return &out
}

// inForm returns an object in the form that the client asks for.
func inForm(r *http.Request, at place, o *Object) any {
	switch as, _ := accepts(r); as {
	case "PartialObjectMetadata":
		return partial(o)
	case "Table":
		return table(metav1.ListMeta{}, *o)
	}
	whole := o.Whole()
	whole["apiVersion"] = at.GroupVersion().String()
	return whole
}

func writeObject(w http.ResponseWriter, r *http.Request, code int, at place, o *Object) {
	form := inForm(r, at, o)
	if m, ok := form.(*metav1.PartialObjectMetadata); ok {
		if _, protobuf := accepts(r); protobuf {
			WriteProtobuf(w, InProtobuf, code, m)
			return
		}
	}
	WriteJSON(w, code, form)
}

func writeList(w http.ResponseWriter, r *http.Request, at place, page metav1.ListMeta, kind string, objects []Object) {
	switch as, protobuf := accepts(r); as {
	case "PartialObjectMetadataList":
		list := &metav1.PartialObjectMetadataList{ListMeta: page} // an empty one has "items": null
		list.SetGroupVersionKind(metaVersion.WithKind(as))
		for i := range objects {
			list.Items = append(list.Items, *partial(&objects[i]))
		}
		if protobuf {
			WriteProtobuf(w, InProtobuf, http.StatusOK, list)
		} else {
			WriteJSON(w, http.StatusOK, list)
		}
	case "Table":
		WriteJSON(w, http.StatusOK, table(page, objects...))
	default:
		items := []any{}
		for _, o := range objects {
			item := o.Whole()
			delete(item, "apiVersion") // list items have no apiVersion and kind of their own
			delete(item, "kind")
			items = append(items, item)
		}
		WriteJSON(w, http.StatusOK, map[string]any{"apiVersion": at.GroupVersion().String(), "kind": kind + "List", "metadata": page, "items": items})
	}
}

func table(page metav1.ListMeta, objects ...Object) *metav1.Table {
	out := &metav1.Table{
		ListMeta: page, Rows: []metav1.TableRow{},
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}},
	}
	out.SetGroupVersionKind(metaVersion.WithKind("Table"))
	for i := range objects {
		out.Rows = append(out.Rows, metav1.TableRow{Cells: []any{objects[i].Name}, Object: runtime.RawExtension{Object: partial(&objects[i])}})
	}
	return out
}
