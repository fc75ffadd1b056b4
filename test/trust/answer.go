package trust

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	inJSON     = "application/json"
	inProtobuf = "application/vnd.kubernetes.protobuf"

	metaVersion = "meta.k8s.io/v1"
)

func writeJSON(w http.ResponseWriter, code int, document any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", inJSON)
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document) // fails if the client has disconnected
}

// message is a document that can be sent in protobuf.
type message interface {
	runtime.Object
	Marshal() ([]byte, error)
}

func writeProtobuf(w http.ResponseWriter, contentType string, code int, m message) {
	raw, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	apiVersion, kind := m.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_, _ = w.Write(enveloped(apiVersion, kind, raw)) // fails if the client has disconnected
}

// enveloped returns a message with the prefix that Kubernetes puts before protobuf.
func enveloped(apiVersion, kind string, raw []byte) []byte {
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	out, err := envelope.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), out...)
}

// respondError responds with the Status of an error, in the first form that the client accepts
// for whole objects: the API server has no other form of an error.
func respondError(w http.ResponseWriter, r *http.Request, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	forms := strings.Split(r.Header.Get("Accept"), ",")
	first := slices.IndexFunc(forms, func(form string) bool { return form == inProtobuf || form == inJSON })
	if first >= 0 && forms[first] == inProtobuf {
		writeProtobuf(w, inProtobuf, int(status.Code), &status)
	} else {
		writeJSON(w, int(status.Code), status)
	}
}

// withoutProtobuf returns the request of a client that accepts only JSON.
func withoutProtobuf(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	var forms []string
	for _, one := range strings.Split(r.Header.Get("Accept"), ",") {
		if !strings.HasPrefix(one, inProtobuf) {
			forms = append(forms, one)
		}
	}
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
		protobuf = strings.HasPrefix(one, inProtobuf)
		if !protobuf || as != "" {
			return as, protobuf
		}
	}
	return "", false
}

func partial(o *unstructured.Unstructured) metav1.PartialObjectMetadata {
	out := metav1.PartialObjectMetadata{}
	raw, err := json.Marshal(map[string]any{"metadata": o.Object["metadata"]})
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err)
	}
	out.SetGroupVersionKind(schema.FromAPIVersionAndKind(metaVersion, "PartialObjectMetadata"))
	return out
}

func writeObject(w http.ResponseWriter, r *http.Request, code int, t Type, o *unstructured.Unstructured) {
	as, protobuf := accepts(r)
	switch as {
	case "PartialObjectMetadata":
		if m := partial(o); protobuf {
			writeProtobuf(w, inProtobuf, code, &m)
		} else {
			writeJSON(w, code, m)
		}
	case "Table":
		writeJSON(w, code, table(metav1.ListMeta{}, []*unstructured.Unstructured{o}))
	default:
		writeJSON(w, code, o.Object)
	}
}

func writeList(w http.ResponseWriter, r *http.Request, t Type, page metav1.ListMeta, objects []*unstructured.Unstructured) {
	as, protobuf := accepts(r)
	switch as {
	case "PartialObjectMetadataList":
		list := &metav1.PartialObjectMetadataList{ListMeta: page} // an empty one has "items": null
		list.SetGroupVersionKind(schema.FromAPIVersionAndKind(metaVersion, "PartialObjectMetadataList"))
		for _, o := range objects {
			list.Items = append(list.Items, partial(o))
		}
		if protobuf {
			writeProtobuf(w, inProtobuf, http.StatusOK, list)
		} else {
			writeJSON(w, http.StatusOK, list)
		}
	case "Table":
		writeJSON(w, http.StatusOK, table(page, objects))
	default:
		items := []any{}
		for _, o := range objects {
			item := o.DeepCopy().Object
			delete(item, "apiVersion") // list items have no apiVersion and kind of their own
			delete(item, "kind")
			items = append(items, item)
		}
		writeJSON(w, http.StatusOK, map[string]any{"apiVersion": t.GroupVersion().String(), "kind": t.Kind + "List", "metadata": page, "items": items})
	}
}

func table(page metav1.ListMeta, objects []*unstructured.Unstructured) *metav1.Table {
	out := &metav1.Table{
		TypeMeta: metav1.TypeMeta{APIVersion: metaVersion, Kind: "Table"}, ListMeta: page, Rows: []metav1.TableRow{},
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}},
	}
	for _, o := range objects {
		m := partial(o)
		out.Rows = append(out.Rows, metav1.TableRow{Cells: []any{o.GetName()}, Object: runtime.RawExtension{Object: &m}})
	}
	return out
}
