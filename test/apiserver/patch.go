package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Patch applies a patch and returns the result, also if the patch has removed the last finalizer
// and with it the object.
func (s *Server) Patch(gvr schema.GroupVersionResource, namespace, name string, patchType types.PatchType, patch []byte, dryRun ...string) (*Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.typeAt(gvr, namespace)
	if err != nil {
		return nil, err
	}
	if !acceptsPatch(t, patchType) {
		return nil, unsupportedMediaType(patchType)
	}
	o, err := s.object(gvr, namespace, name)
	if err != nil {
		return nil, err
	}
	updated, err := patched(o, patchType, patch)
	if err != nil {
		return nil, err
	}
	if err := s.admit("UPDATE", o); err != nil {
		return nil, err
	}
	defer s.ifDryRun(dryRun)()
	result, err := s.update(o, updated)
	if err != nil {
		return nil, err
	}
	c := *result
	return &c, nil
}

func acceptsPatch(t *Type, patchType types.PatchType) bool {
	return patchType == types.JSONPatchType || patchType == types.MergePatchType || patchType == types.StrategicMergePatchType && !t.Custom
}

func unsupportedMediaType(patchType types.PatchType) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format: %s", patchType),
	}}
}

// patched returns the object with the patch applied, not yet validated.
func patched(o *Object, patchType types.PatchType, patch []byte) (*Object, error) {
	after, err := patchedFields(o.Whole(), patchType, patch)
	if err != nil {
		return nil, err
	}
	read, err := NewObject(o.Type, after)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(patch), err.Error()),
		})
	}
	updated := *o
	updated.ObjectMeta, updated.Fields = read.ObjectMeta, read.Fields

	if updated.Namespace == "" || !o.Type.Namespaced {
		updated.Namespace = o.Namespace
	}
	if updated.Name != o.Name || updated.Namespace != o.Namespace {
		return nil, apierrors.NewBadRequest("the name or namespace of the object does not match the one on the URL")
	}
	return &updated, nil
}

// patchMeta has the merge keys of a strategic merge patch.
var patchMeta = sync.OnceValue(func() strategicpatch.LookupPatchMeta {
	meta, err := strategicpatch.NewPatchMetaFromStruct(metav1.PartialObjectMetadata{})
	if err != nil {
		panic(err) // of the type, not of a patch
	}
	return meta
})

// patchedFields applies a patch to the fields of an object, which it may change.
func patchedFields(fields map[string]any, patchType types.PatchType, patch []byte) (map[string]any, error) {
	var changes map[string]any
	if patchType != types.JSONPatchType {
		if err := json.Unmarshal(patch, &changes); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if patchType == types.StrategicMergePatchType {
		after, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(fields, changes, patchMeta())
		return after, strategicPatchError(err)
	}
	if patchType == types.MergePatchType {
		if changes == nil {
			return nil, apierrors.NewBadRequest("the patch is null")
		}
		merge(fields, changes)
		return fields, nil
	}
	before, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, unprocessable(err)
	}
	var changed map[string]any
	err = json.Unmarshal(after, &changed)
	return changed, err
}

// merge applies a JSON merge patch (RFC 7386).
func merge(fields, changes map[string]any) {
	for name, change := range changes {
		within, isObject := change.(map[string]any)
		switch {
		case change == nil:
			delete(fields, name)
		case isObject:
			old, _ := fields[name].(map[string]any)
			if old == nil {
				old = map[string]any{}
			}
			merge(old, within)
			fields[name] = old
		default:
			fields[name] = change
		}
	}
}

// strategicPatchError is interpretStrategicMergePatchError of k8s.io/apiserver.
func strategicPatchError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList), errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys),
		errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList):
		return apierrors.NewBadRequest(err.Error())
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return unprocessable(err)
	}
	return internalError(err)
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// internalError returns what the API server makes of an error that has no status.
func internalError(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// withoutDuplicates returns the references without those that are equal to an earlier one.
func withoutDuplicates(references []metav1.OwnerReference) []metav1.OwnerReference {
	var unique []metav1.OwnerReference
	for _, r := range references {
		if !slices.ContainsFunc(unique, func(u metav1.OwnerReference) bool { return u.UID == r.UID && equality.Semantic.DeepEqual(u, r) }) {
			unique = append(unique, r)
		}
	}
	return unique
}

// update is registry.Store.Update. It stores updated in place of o, or removes o if it is
// terminating and nothing holds it any more. Before that, the handlers of all requests merge equal
// references (rest.go, dedupOwnerReferences).
func (s *Server) update(o, updated *Object) (*Object, error) {
	updated.OwnerReferences = withoutDuplicates(updated.OwnerReferences)
	if err := checkResourceVersion(o, updated.ResourceVersion); err != nil {
		return nil, err
	}
	updated.ResourceVersion = o.ResourceVersion
	updated.Generation = o.Generation
	updated.CreationTimestamp = o.CreationTimestamp
	if updated.UID == "" {
		updated.UID = o.UID
	}
	if o.DeletionTimestamp != nil {
		updated.DeletionTimestamp = o.DeletionTimestamp
	}
	if updated.DeletionGracePeriodSeconds == nil {
		updated.DeletionGracePeriodSeconds = o.DeletionGracePeriodSeconds
	}
	if errs := validate(o, updated); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: o.Type.Group, Kind: o.Type.Kind}, o.Name, errs)
	}

	held := len(updated.Finalizers) > 0 || len(updated.SpecFinalizers) > 0
	grace := o.DeletionGracePeriodSeconds
	if o.DeletionTimestamp != nil && !held && (grace == nil || *grace == 0) {
		s.remove(o)
		return updated, nil
	}
	return s.change(o, updated), nil
}

// checkResourceVersion checks the resourceVersion of an updated object. Without one, or with 0, an
// update is unconditional, which custom resources and their definitions do not allow.
func checkResourceVersion(o *Object, requested string) error {
	version, err := strconv.ParseUint(cmp.Or(requested, "0"), 10, 64)
	switch {
	case err != nil:
		return internalError(err)
	case version == 0 && (o.Type.Custom || o.isOf(customResourceDefinitions)):
		return apierrors.NewInvalid(schema.GroupKind{Group: o.Type.Group, Kind: o.Type.Resource}, o.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), version, "must be specified for an update"),
		})
	case version != 0 && strconv.FormatUint(version, 10) != o.ResourceVersion:
		return conflict(o, "the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

// validate validates an object in place of another, which is nil for a new object.
func validate(o, updated *Object) field.ErrorList {
	metadata := field.NewPath("metadata")
	errs := validation.ValidateObjectMeta(&updated.ObjectMeta, updated.Type.Namespaced, func(name string, _ bool) []string {
		return content.IsPathSegmentName(name)
	}, metadata)
	if o != nil {
		errs = append(errs, validation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &o.ObjectMeta, metadata)...)
	}
	if updated.Type.Custom || updated.isOf(customResourceDefinitions) || updated.isOf(events) {
		return errs
	}
	for _, f := range updated.Finalizers {
		if !strings.Contains(f, "/") && !isCollectorFinalizer(f) && f != "kubernetes" {
			errs = append(errs, field.Invalid(metadata.Child("finalizers"), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
