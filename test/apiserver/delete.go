package apiserver

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
)

// Delete deletes an object, or marks it as terminating. It returns what is left of it, which is nil
// if it is gone.
func (s *Server) Delete(gvr schema.GroupVersionResource, namespace, name string, options metav1.DeleteOptions) (*Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.typeAt(gvr, namespace); err != nil {
		return nil, err
	}
	if err := validateDeleteOptions(options); err != nil {
		return nil, err
	}
	o, err := s.object(gvr, namespace, name)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkPreconditions(o, options.Preconditions), s.admit("DELETE", o)); err != nil {
		return nil, err
	}
	defer s.ifDryRun(options.DryRun)()
	if err := s.delete(o, options); err != nil {
		return nil, err
	}
	i, found := s.find(o.Type, namespace, name)
	if !found {
		return nil, nil
	}
	left := *s.objects[i]
	return &left, nil
}

// DeleteCollection deletes the objects of a type in a namespace, one after the other.
func (s *Server) DeleteCollection(gvr schema.GroupVersionResource, namespace string, options metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.types[gvr]
	switch {
	case t == nil || !t.Namespaced && namespace != "" || t.Custom && t.Namespaced && namespace == "":
		return s.pathNotFound(gvr)
	case t.Namespaced && namespace == "" || gvr.GroupResource() == namespaces:
		return methodNotAllowed()
	}
	if err := validateDeleteOptions(options); err != nil {
		return err
	}
	defer s.ifDryRun(options.DryRun)()
	for _, o := range s.selected(func(o *Object) bool { return o.Type == t && o.Namespace == namespace }) {
		if err := s.admit("DELETE", &o); err != nil {
			return err
		}
		if err := s.delete(&o, options); err != nil {
			return err
		}
	}
	return nil
}

func validateDeleteOptions(options metav1.DeleteOptions) error {
	if errs := validation.ValidateDeleteOptions(&options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	return nil
}

// delete deletes a stored object as the storage of its type does.
func (s *Server) delete(o *Object, options metav1.DeleteOptions) error {
	if err := checkPreconditions(o, options.Preconditions); err != nil {
		return err
	}
	switch {
	case o.isOf(namespaces):
		return s.deleteNamespace(o, options)
	case o.isOf(customResourceDefinitions) && o.DeletionTimestamp == nil:
		s.terminateDefinition(o)
		return nil
	}
	return s.deleteStored(o, options)
}

func checkPreconditions(o *Object, p *metav1.Preconditions) error {
	if p != nil && p.UID != nil && *p.UID != o.UID {
		return conflict(o, "the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, o.UID)
	}
	if p != nil && p.ResourceVersion != nil && *p.ResourceVersion != o.ResourceVersion {
		return conflict(o, "the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, o.ResourceVersion)
	}
	return nil
}

// deleteStored is registry.Store.Delete.
func (s *Server) deleteStored(o *Object, options metav1.DeleteOptions) error {
	updated := *o
	graceful, pending := s.startGracefulDeletion(&updated, options.GracePeriodSeconds)
	if pending {
		return nil // the policy is ignored, too
	}
	finalizers := deletionFinalizers(o, options)
	if len(finalizers) == 0 && !graceful {
		if len(o.Finalizers) > 0 && options.Preconditions != nil && options.Preconditions.ResourceVersion != nil && len(options.DryRun) == 0 {
			// The API server replaces the resourceVersion of the precondition by that of its last
			// write, also here, where it has written nothing. Such a request always fails.
			return conflict(o, "precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: %s", o.ResourceVersion)
		}
		s.remove(o)
		return nil
	}
	updated.Finalizers = finalizers
	if !graceful {
		s.markAsDeleting(&updated)
	}
	stored := s.change(o, &updated)
	if len(finalizers) == 0 && *stored.DeletionGracePeriodSeconds == 0 {
		s.remove(stored)
	}
	return nil
}

// startGracefulDeletion is rest.BeforeDelete. It reports whether it has started or shortened a
// graceful deletion, or else whether one is pending that the request does not shorten. Only Pods
// are deleted gracefully.
func (s *Server) startGracefulDeletion(o *Object, requested *int64) (graceful, pending bool) {
	if !o.isOf(pods) {
		return false, false
	}
	if requested != nil && *requested < 0 {
		requested = new(int64(1))
	}
	if o.DeletionTimestamp != nil {
		current := o.DeletionGracePeriodSeconds
		switch {
		case current == nil || *current == 0:
			return false, false
		case requested == nil || *requested >= *current:
			return false, true
		}
		shortened := metav1.NewTime(o.DeletionTimestamp.Add(time.Duration(*requested-*current) * time.Second))
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &shortened, requested
		return true, false
	}

	period := o.GraceSeconds
	if requested != nil {
		period = *requested
	}
	if !o.Scheduled || o.Finished {
		period = 0
	}
	period = max(period, 0)
	end := metav1.NewTime(s.now().Add(time.Duration(period) * time.Second))
	o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &end, &period
	if o.Generation > 0 {
		o.Generation++
	}
	return true, false
}

// markAsDeleting marks an object that is not deleted gracefully.
func (s *Server) markAsDeleting(o *Object) {
	if o.DeletionTimestamp == nil && o.Generation > 0 {
		o.Generation++
	}
	if now := s.now(); o.DeletionTimestamp == nil || o.DeletionTimestamp.After(now.Time) {
		o.DeletionTimestamp = &now
	}
	o.DeletionGracePeriodSeconds = new(int64(0))
}

// deletionFinalizers returns the finalizers of an object after a DELETE.
func deletionFinalizers(o *Object, options metav1.DeleteOptions) []string {
	finalizers := slices.DeleteFunc(slices.Clone(o.Finalizers), isCollectorFinalizer)
	if add := collectorFinalizer(o, options); add != "" {
		finalizers = append(finalizers, add)
	}
	if sets.New(finalizers...).Equal(sets.New(o.Finalizers...)) {
		return o.Finalizers // in their present order
	}
	return finalizers
}

// collectorFinalizer returns the garbage collector's finalizer that an object gets by a DELETE,
// or that it keeps. An explicit policy has priority over an existing finalizer, and that over the
// default of the type.
func collectorFinalizer(o *Object, options metav1.DeleteOptions) string {
	existing := slices.IndexFunc(o.Finalizers, isCollectorFinalizer)
	switch {
	case o.Type.IgnoresPolicy:
		return ""
	case options.PropagationPolicy != nil:
		return map[metav1.DeletionPropagation]string{
			metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
			metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		}[*options.PropagationPolicy]
	case existing >= 0:
		return o.Finalizers[existing]
	case o.Type.OrphansByDefault:
		return metav1.FinalizerOrphanDependents
	}
	return ""
}

func isCollectorFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
}

// change stores an updated object, unless nothing has changed, and returns the stored one.
func (s *Server) change(o, updated *Object) *Object {
	if slices.Equal(o.SpecFinalizers, updated.SpecFinalizers) && equality.Semantic.DeepEqual(&o.ObjectMeta, &updated.ObjectMeta) &&
		equality.Semantic.DeepEqual(o.Fields, updated.Fields) {
		return o
	}
	return s.write(watch.Modified, updated)
}
