package trust

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// key identifies an object.
type key struct {
	schema.GroupResource
	namespace, name string
}

func (at place) key() key { return key{at.GroupResource(), at.namespace, at.name} }

var clusters atomic.Int32

// Rebuild turns the server into a new cluster at the same address: only the namespaces
// kube-system and shop exist, and every UID is new.
func (s *Server) Rebuild() {
	s.mu.Lock()
	s.cluster = fmt.Sprintf("%08x", clusters.Add(1))
	s.objects = map[key]*unstructured.Unstructured{}
	s.aggregated = nil
	s.mu.Unlock()
	s.Add(Namespaces.object("", "kube-system"), Namespaces.object("", "shop"))
}

// Add stores objects, replacing those of the same name, with a UID and a creation time. It
// returns the last one as stored.
func (s *Server) Add(objects ...*unstructured.Unstructured) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *unstructured.Unstructured
	for _, o := range objects {
		last = o.DeepCopy()
		s.put(key{s.typeOf(o).GroupResource(), o.GetNamespace(), o.GetName()}, last)
	}
	s.syncAPIServices()
	return last.DeepCopy()
}

// AddCRD defines custom types.
func (s *Server) AddCRD(custom ...Type) {
	for _, t := range custom {
		s.Add(t.crd())
	}
}

// Aggregate adds types that an aggregated API server serves.
func (s *Server) Aggregate(more ...Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aggregated = append(s.aggregated, more...)
	s.syncAPIServices()
}

// Now returns the current object, or nil if it was deleted or replaced.
func (s *Server) Now(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.objects[key{s.typeOf(o).GroupResource(), o.GetNamespace(), o.GetName()}]
	if now == nil || now.GetUID() != o.GetUID() {
		return nil
	}
	return now.DeepCopy()
}

// put stores o itself, with a new resourceVersion.
func (s *Server) put(at key, o *unstructured.Unstructured) {
	s.revision++
	o.SetResourceVersion(strconv.Itoa(s.revision))
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("%s-0000-4000-8000-%012x", s.cluster, s.revision)))
	}
	if created := o.GetCreationTimestamp(); created.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
	}
	s.objects[at] = o
}

// ofType returns the objects of a type by namespace and name; an empty namespace means all.
func (s *Server) ofType(t Type, namespace string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for k, o := range s.objects {
		if k.GroupResource == t.GroupResource() && (namespace == "" || k.namespace == namespace) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return cmp.Compare(sortKey(a), sortKey(b)) })
	return out
}

// sortKey orders objects as etcd does.
func sortKey(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

func (s *Server) list(w http.ResponseWriter, r *http.Request, at place) {
	query := r.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		respondError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		respondError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	token, _ := base64.StdEncoding.DecodeString(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	var found []*unstructured.Unstructured
	for _, o := range s.ofType(at.Type, at.namespace) {
		if sortKey(o) > string(token) && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(selectableFields(o)) {
			found = append(found, o)
		}
	}
	page := metav1.ListMeta{ResourceVersion: strconv.Itoa(s.revision)}
	if left := int64(len(found) - limit); limit > 0 && left > 0 {
		found = found[:limit]
		page.Continue = base64.StdEncoding.EncodeToString([]byte(sortKey(found[limit-1])))
		page.RemainingItemCount = &left
	}
	writeList(w, r, at.Type, page, found)
}

// selectableFields returns the fields that a field selector of a list can use.
func selectableFields(o *unstructured.Unstructured) fields.Set {
	node, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace(), "spec.nodeName": node, "status.phase": phase}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, at place) {
	o := s.objects[at.key()]
	if o == nil {
		respondError(w, r, apierrors.NewNotFound(at.GroupResource(), at.name))
		return
	}
	writeObject(w, r, http.StatusOK, at.Type, o)
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, at place) {
	o := &unstructured.Unstructured{}
	if err := json.NewDecoder(r.Body).Decode(&o.Object); err != nil {
		respondError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	at.name = o.GetName()
	switch {
	case o.GetKind() != at.Kind || at.name == "" || o.GetNamespace() != at.namespace:
		respondError(w, r, apierrors.NewBadRequest("the object does not fit the path"))
		return
	case s.objects[at.key()] != nil:
		respondError(w, r, apierrors.NewAlreadyExists(at.GroupResource(), at.name))
		return
	}
	o.SetUID("")
	o.SetCreationTimestamp(metav1.Now())
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: r.URL.Query().Get("fieldManager"), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: o.GetAPIVersion(),
	}})
	if !r.URL.Query().Has("dryRun") {
		s.put(at.key(), o)
		s.syncAPIServices()
	}
	writeObject(w, r, http.StatusCreated, at.Type, o)
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, at place) {
	var options metav1.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&options); err != nil && err != io.EOF {
		respondError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	stored := s.objects[at.key()]
	if stored == nil {
		respondError(w, r, apierrors.NewNotFound(at.GroupResource(), at.name))
		return
	}
	if p := options.Preconditions; p != nil && (p.UID != nil && *p.UID != stored.GetUID() ||
		p.ResourceVersion != nil && *p.ResourceVersion != stored.GetResourceVersion()) {
		respondError(w, r, apierrors.NewConflict(at.GroupResource(), at.name, fmt.Errorf("precondition failed")))
		return
	}
	o := stored.DeepCopy()
	if policy := options.PropagationPolicy; policy != nil {
		o.SetFinalizers(finalizersAfterDelete(o.GetFinalizers(), *policy))
	}
	goes := len(o.GetFinalizers()) == 0
	if !goes || at.Type == Namespaces {
		terminate(o)
	}
	if len(options.DryRun) == 0 {
		if goes {
			s.remove(at, o)
		} else {
			s.put(at.key(), o)
		}
	}
	if goes && at.Type != Namespaces {
		writeJSON(w, http.StatusOK, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{Name: at.name, Group: at.Group, Kind: at.Resource, UID: o.GetUID()},
		})
		return
	}
	writeObject(w, r, http.StatusOK, at.Type, o)
}

// finalizersAfterDelete returns the finalizers of an object after a DELETE with a policy.
func finalizersAfterDelete(has []string, policy metav1.DeletionPropagation) []string {
	out := slices.DeleteFunc(slices.Clone(has), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
	switch policy {
	case metav1.DeletePropagationForeground:
		out = append(out, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		out = append(out, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationBackground:
	}
	return out
}

// terminate marks an object as being deleted.
func terminate(o *unstructured.Unstructured) {
	if o.GetDeletionTimestamp() == nil {
		now, none := metav1.Now(), int64(0)
		o.SetDeletionTimestamp(&now)
		o.SetDeletionGracePeriodSeconds(&none)
	}
}

// remove deletes an object and the contents of a Namespace or CustomResourceDefinition, as
// a controller of a real server does a moment later.
func (s *Server) remove(at place, o *unstructured.Unstructured) {
	delete(s.objects, at.key())
	for k := range s.objects {
		if at.Type == Namespaces && k.namespace == at.name || at.Type == CRDs && k.GroupResource == defined(o).GroupResource() {
			delete(s.objects, k)
		}
	}
	s.revision++
	s.syncAPIServices()
}

func (s *Server) patch(w http.ResponseWriter, r *http.Request, at place) {
	stored := s.objects[at.key()]
	if stored == nil {
		respondError(w, r, apierrors.NewNotFound(at.GroupResource(), at.name))
		return
	}
	o, err := patched(stored, r)
	switch {
	case err != nil:
		respondError(w, r, apierrors.NewInvalid(schema.GroupKind{Group: at.Group, Kind: at.Kind}, at.name, nil))
		return
	case o.GetUID() != stored.GetUID() || o.GetResourceVersion() != stored.GetResourceVersion():
		respondError(w, r, apierrors.NewConflict(at.GroupResource(), at.name, fmt.Errorf("the object has been modified")))
		return
	}
	switch {
	case r.URL.Query().Has("dryRun"):
	case o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0:
		s.remove(at, o)
	default:
		s.put(at.key(), o)
	}
	writeObject(w, r, http.StatusOK, at.Type, o)
}

// patched returns the object with a JSON patch applied.
func patched(o *unstructured.Unstructured, r *http.Request) (*unstructured.Unstructured, error) {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, string(types.JSONPatchType)) {
		return nil, fmt.Errorf("no patch of type %q is known here", kind)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	before, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(after)
}

// review allows everything.
func review(w http.ResponseWriter, r *http.Request) {
	var asked map[string]any
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		respondError(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	asked["status"] = map[string]any{"allowed": true}
	writeJSON(w, http.StatusCreated, asked)
}
