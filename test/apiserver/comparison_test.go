package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestSameAsKubeAPIServer sends the same random requests to a kube-apiserver and to the server in
// memory, and compares errors, objects and watch events. SEED repeats a run, and REQUESTS sets
// its length; the default takes about ten seconds.
func TestSameAsKubeAPIServer(t *testing.T) {
	seed, requests := uint64(time.Now().UnixNano()), 1000
	if s := os.Getenv("SEED"); s != "" {
		seed = uint64(number(t, s))
	}
	if s := os.Getenv("REQUESTS"); s != "" {
		requests = number(t, s)
	}
	t.Logf("SEED=%d", seed)

	plane := testcluster.New(t, testcluster.Options{Collector: testcluster.Absent})
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	c := newComparison(t, config, rand.New(rand.NewPCG(seed, 0)))
	c.compareWrongPaths()
	c.compareMissingNamespace()
	c.compareCreations()
	for i := range requests {
		c.step = i
		c.compareOne()
	}
	c.compareEvents()
	t.Logf("%d requests; by result: %v", requests, c.results)
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// comparison has a real server and one in memory with the same objects.
type comparison struct {
	*testing.T
	random  *rand.Rand
	step    int
	real    metadata.Interface
	creator dynamic.Interface
	memory  *Server
	client  metadata.Interface        // of memory
	watches map[*Type]watch.Interface // of the real server
	start   string                    // the resourceVersion in memory where the events to compare begin
	results map[string]int
}

func newComparison(t *testing.T, config *rest.Config, random *rand.Rand) *comparison {
	t.Helper()
	memory := New(testTypes)
	c := &comparison{
		T: t, random: random, memory: memory,
		client: metadata.NewForConfigOrDie(&rest.Config{Host: "http://memory", Transport: Transport(memory), QPS: -1}),
		real:   metadata.NewForConfigOrDie(config), creator: dynamic.NewForConfigOrDie(config),
		watches: map[*Type]watch.Interface{}, results: map[string]int{},
	}
	c.createReal(Namespaces, unstructuredObject("v1", "Namespace", testNamespace, nil))
	memory.Add(Namespaces.Object("", testNamespace))
	c.createReal(CRDs, &unstructured.Unstructured{Object: widgetType.Definition().Whole()})
	for _, kind := range testTypes {
		deadline := time.Now().Add(20 * time.Second)
		for {
			list, err := c.real.Resource(kind.GroupVersionResource).List(t.Context(), metav1.ListOptions{})
			if err == nil {
				w, err := c.at(c.real, kind).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
				if err != nil {
					t.Fatal(err)
				}
				c.watches[kind] = w
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return c
}

func unstructuredObject(apiVersion, kind, name string, fields map[string]any) *unstructured.Unstructured {
	object := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	maps.Copy(object, fields)
	return &unstructured.Unstructured{Object: object}
}

func (c *comparison) createReal(kind *Type, u *unstructured.Unstructured) *unstructured.Unstructured {
	c.Helper()
	created, err := c.creator.Resource(kind.GroupVersionResource).Namespace(u.GetNamespace()).Create(c.Context(), u, metav1.CreateOptions{})
	if err != nil {
		c.Fatalf("step %d: create: %v\n%v", c.step, err, u)
	}
	return created
}

// create creates an object with random finalizers and references on both servers.
func (c *comparison) create(kind *Type, name string) {
	c.Helper()
	c.createIn(testNamespace, kind, name, c.finalizers(pick(c, 0, 0, 1, 2)), c.references(c.random.IntN(4)))
}

func (c *comparison) createIn(namespace string, kind *Type, name string, finalizers []string, references []metav1.OwnerReference) {
	c.Helper()
	var u *unstructured.Unstructured
	template := podTemplate()
	finished := false
	switch kind {
	case Pods:
		spec := map[string]any{
			"terminationGracePeriodSeconds": pick(c, int64(0), 3600),
			"containers":                    []any{map[string]any{"name": "c", "image": "i"}},
		}
		if pick(c, true, true, false) {
			spec["nodeName"] = "node"
		}
		finished = pick(c, true, false, false)
		u = unstructuredObject("v1", "Pod", name, map[string]any{"spec": spec})
	case eventType:
		u = unstructuredObject("v1", "Event", name, map[string]any{"involvedObject": map[string]any{"kind": "Pod", "name": "p", "namespace": namespace}})
	case rcType:
		template["spec"].(map[string]any)["restartPolicy"] = "Always"
		u = unstructuredObject("v1", "ReplicationController", name, map[string]any{"spec": map[string]any{"replicas": int64(0), "selector": map[string]any{"app": "test"}, "template": template}})
	case jobType:
		u = unstructuredObject("batch/v1", "Job", name, map[string]any{"spec": map[string]any{"template": template}})
	default:
		u = unstructuredObject(kind.GroupVersion().String(), kind.Kind, name, nil)
	}
	if kind.Namespaced {
		u.SetNamespace(namespace)
	}
	u.SetFinalizers(finalizers)
	u.SetOwnerReferences(withoutDuplicates(references))
	c.addCreated(kind, c.createReal(kind, u))
	if finished {
		patch := []byte(`{"status":{"phase":"Succeeded"}}`)
		patched, err := c.creator.Resource(kind.GroupVersionResource).Namespace(testNamespace).Patch(c.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			c.Fatal(err)
		}
		c.addCreated(kind, patched)
	}
}

func podTemplate() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "test"}},
		"spec":     map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "c", "image": "i"}}},
	}
}

// addCreated adds an object of the real server to the one in memory.
func (c *comparison) addCreated(kind *Type, u *unstructured.Unstructured) {
	c.Helper()
	o, err := NewObject(kind, u.Object)
	if err != nil {
		c.Fatal(err)
	}
	o.ManagedFields = nil
	c.memory.Add(o)
}

func pick[T any](c *comparison, of ...T) T { return of[c.random.IntN(len(of))] }

// finalizers returns n different valid finalizers.
func (c *comparison) finalizers(n int) []string {
	var list []string
	all := []string{"test.example/a", "test.example/b", pick(c, metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)}
	for _, i := range c.random.Perm(len(all))[:n] {
		list = append(list, all[i])
	}
	return list
}

// references returns n valid references to few owners.
func (c *comparison) references(n int) []metav1.OwnerReference {
	var list []metav1.OwnerReference
	for range n {
		uid := pick(c, "u1", "u2", "u3")
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: pick(c, "owner", "other"), UID: types.UID(uid)}
		r.BlockOwnerDeletion = pick(c, nil, new(bool), new(true))
		list = append(list, r)
	}
	return list
}

// request is one request, sent to either server. It gets the object as the server has it, which
// is nil if there is none.
type request struct {
	description string
	send        func(c metadata.ResourceInterface, now *metav1.PartialObjectMetadata) error
	collection  bool // it may change every object of the type
}

// randomTypes are the types of the objects of random requests.
var randomTypes = []*Type{ConfigMaps, Pods, Namespaces, eventType, rcType, jobType, widgetType}

func (c *comparison) compareOne() {
	c.Helper()
	kind := pick(c, append(randomTypes, Pods, Namespaces, widgetType)...)
	name := fmt.Sprintf("o%d", c.random.IntN(4))
	realAt, memoryAt := c.at(c.real, kind), c.at(c.client, kind)

	realBefore, memoryBefore := c.get(realAt, name), c.get(memoryAt, name)
	if realBefore == nil && c.random.IntN(8) > 0 {
		c.create(kind, name)
		realBefore, memoryBefore = c.get(realAt, name), c.get(memoryAt, name)
	}
	c.compareState(kind, name, "before")

	if kind == Namespaces && c.random.IntN(4) == 0 && realBefore != nil {
		c.finalize(name)
		c.compareState(kind, name, "after finalize")
		return
	}
	r := c.request(kind, name)
	realErr, memoryErr := r.send(realAt, realBefore), r.send(memoryAt, memoryBefore)
	description := fmt.Sprintf("%s %s: %s\nbefore: %s", kind.Kind, name, r.description, show(realBefore))
	if class(realErr) != class(memoryErr) {
		c.Errorf("step %d: %s\nreal:   %s %v\nmemory: %s %v", c.step, description, class(realErr), realErr, class(memoryErr), memoryErr)
	}
	c.results[class(realErr)]++

	realAfter, memoryAfter := c.get(realAt, name), c.get(memoryAt, name)
	if kind == Namespaces && realAfter != nil && memoryAfter != nil && realBefore.DeletionTimestamp == nil && realAfter.DeletionTimestamp != nil &&
		sets.New(realAfter.Finalizers...).Equal(sets.New(memoryAfter.Finalizers...)) {
		// The first DELETE of a Namespace puts its finalizers into a random order.
		stored, err := c.memory.object(kind.GroupVersionResource, "", name)
		if err != nil {
			c.Fatal(err)
		}
		copy(stored.Finalizers, realAfter.Finalizers) // also those of the event
	}
	if realBefore != nil && realAfter != nil && memoryAfter != nil {
		realWrote := realBefore.ResourceVersion != realAfter.ResourceVersion
		memoryWrote := memoryBefore.ResourceVersion != memoryAfter.ResourceVersion
		if realWrote != memoryWrote {
			c.Errorf("step %d: %s\nwritten: real %v, memory %v", c.step, description, realWrote, memoryWrote)
		}
	}
	c.compareState(kind, name, description)
	if r.collection {
		for i := range 4 {
			c.compareState(kind, fmt.Sprintf("o%d", i), description)
		}
	}
}

func (c *comparison) at(client metadata.Interface, kind *Type) metadata.ResourceInterface {
	if kind.Namespaced {
		return client.Resource(kind.GroupVersionResource).Namespace(testNamespace)
	}
	return client.Resource(kind.GroupVersionResource)
}

func (c *comparison) get(at metadata.ResourceInterface, name string) *metav1.PartialObjectMetadata {
	c.Helper()
	o, err := at.Get(c.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return o
}

// class returns what a controller can tell errors apart by.
func class(err error) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &status):
		s := status.Status()
		return fmt.Sprintf("%d %s, unexpected: %v", s.Code, s.Reason, apierrors.IsUnexpectedServerError(err))
	}
	return "other error"
}

// state is what both servers must agree on.
func state(o *metav1.PartialObjectMetadata) any {
	if o == nil {
		return nil
	}
	labels := o.Labels
	if len(labels) == 0 {
		labels = nil
	}
	finalizers, references := slices.Concat(o.Finalizers), slices.Concat(o.OwnerReferences) // nil if empty
	return []any{o.UID, o.Generation, labels, finalizers, references, o.DeletionTimestamp != nil, o.DeletionGracePeriodSeconds}
}

func show(o *metav1.PartialObjectMetadata) string {
	text, err := json.Marshal(state(o))
	return fmt.Sprint(string(text), err)
}

func (c *comparison) compareState(kind *Type, name, description string) {
	c.Helper()
	r, m := c.get(c.at(c.real, kind), name), c.get(c.at(c.client, kind), name)
	if !equality.Semantic.DeepEqual(state(r), state(m)) {
		c.Fatalf("step %d: %s\nreal:   %s\nmemory: %s", c.step, description, show(r), show(m))
	}
}

func (c *comparison) finalize(name string) {
	c.Helper()
	at := c.creator.Resource(Namespaces.GroupVersionResource)
	u, err := at.Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	unstructured.RemoveNestedField(u.Object, "spec", "finalizers")
	_, realErr := at.Update(c.Context(), u, metav1.UpdateOptions{}, "finalize")
	if memoryErr := c.memory.Finalize(name); class(realErr) != class(memoryErr) {
		c.Errorf("step %d: finalize %s: real %v, memory %v", c.step, name, realErr, memoryErr)
	}
}

func (c *comparison) request(kind *Type, name string) request {
	switch n := c.random.IntN(100); {
	case n < 40:
		return c.deleteRequest(name)
	case n < 43:
		policy := metav1.DeleteOptions{PropagationPolicy: pick(c, nil, new(metav1.DeletePropagationBackground), new(metav1.DeletePropagationForeground))}
		return request{collection: true, description: fmt.Sprintf("delete collection %v", show2(policy)), send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return at.DeleteCollection(c.Context(), policy, metav1.ListOptions{FieldSelector: ""})
		}}
	}
	return c.patchRequest(name)
}

func show2(v any) string {
	text, _ := json.Marshal(v) //nolint:errcheck // only for messages
	return string(text)
}

func (c *comparison) deleteRequest(name string) request {
	var o metav1.DeleteOptions
	o.PropagationPolicy = pick(c, nil, nil, new(metav1.DeletePropagationBackground), new(metav1.DeletePropagationForeground), new(metav1.DeletePropagationOrphan), new(metav1.DeletionPropagation("Wrong")))
	o.DryRun = pick(c, nil, nil, nil, nil, []string{metav1.DryRunAll})
	o.GracePeriodSeconds = pick(c, nil, nil, nil, new(int64(0)), new(int64(2000)), new(int64(7200)), new(int64(-1)))
	uid, rv := pick(c, "", "", "current", "wrong"), pick(c, "", "", "current", "999999999")
	return request{description: fmt.Sprintf("delete %s uid=%s rv=%s", show2(o), uid, rv), send: func(at metadata.ResourceInterface, now *metav1.PartialObjectMetadata) error {
		options := *o.DeepCopy()
		options.Preconditions = &metav1.Preconditions{}
		if value, ok := choose(uid, now, (*metav1.PartialObjectMetadata).GetUID); ok {
			options.Preconditions.UID = &value
		}
		if value, ok := choose(rv, now, (*metav1.PartialObjectMetadata).GetResourceVersion); ok {
			options.Preconditions.ResourceVersion = &value
		}
		return at.Delete(c.Context(), name, options)
	}}
}

// choose returns a value for a field of a request: none, the current one of the object, or choice
// itself.
func choose[T ~string](choice string, now *metav1.PartialObjectMetadata, current func(*metav1.PartialObjectMetadata) T) (T, bool) {
	if choice == "current" && now != nil {
		return current(now), true
	}
	return T(choice), choice != ""
}

func (c *comparison) patchRequest(name string) request {
	patchType := pick(c, types.StrategicMergePatchType, types.MergePatchType)
	fields := map[string]any{}
	switch c.random.IntN(8) {
	case 0, 1: // as the garbage collector removes references
		var removed []any
		for range 1 + c.random.IntN(2) {
			removed = append(removed, map[string]any{"$patch": "delete", "uid": pick(c, "u1", "u2", "u3", "u4")})
		}
		fields["ownerReferences"], patchType = removed, types.StrategicMergePatchType
	case 2: // as controllers remove finalizers
		fields["finalizers"] = c.finalizers(c.random.IntN(4))
	case 3:
		fields["ownerReferences"] = c.references(c.random.IntN(4))
	case 4:
		fields["ownerReferences"] = append(c.references(1), c.invalidReferences()...)
	case 5:
		fields["finalizers"] = pick(c, []string{"orphan", "foregroundDeletion"}, []string{"unqualified"}, []string{"test.example/new"}, []string{"not valid"}, nil)
	case 6:
		fields["labels"] = map[string]any{"test": pick[any](c, "a", "b", nil, 7)}
	case 7:
		return c.otherPatchRequest(name)
	}
	uid, rv := pick(c, "", "", "current", "current", "wrong"), pick(c, "", "", "current", "current", "999999999", "0")
	options := metav1.PatchOptions{DryRun: pick(c, nil, nil, nil, nil, []string{metav1.DryRunAll})}
	return request{description: fmt.Sprintf("patch %s %s uid=%s rv=%s %s", patchType, show2(fields), uid, rv, options.DryRun), send: func(at metadata.ResourceInterface, now *metav1.PartialObjectMetadata) error {
		fields := maps.Clone(fields)
		if value, ok := choose(uid, now, (*metav1.PartialObjectMetadata).GetUID); ok {
			fields["uid"] = value
		}
		if value, ok := choose(rv, now, (*metav1.PartialObjectMetadata).GetResourceVersion); ok {
			fields["resourceVersion"] = value
		}
		_, err := at.Patch(c.Context(), name, patchType, []byte(show2(map[string]any{"metadata": fields})), options)
		return err
	}}
}

func (c *comparison) sendPatch(at metadata.ResourceInterface, name string, patchType types.PatchType, patch string) error {
	_, err := at.Patch(c.Context(), name, patchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (c *comparison) invalidReferences() []metav1.OwnerReference {
	valid := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "n", UID: "u9"}
	first, second := valid, valid
	switch c.random.IntN(8) {
	case 0:
		first.Name = ""
	case 1:
		first.UID = ""
	case 2:
		first.Kind = ""
	case 3:
		first.APIVersion = ""
	case 4:
		first.Kind = "Event"
	case 5: // two controllers
		first.Controller, second.Controller, second.UID = new(true), new(true), "u8"
	case 6: // the same UID, but not the same reference
		second.Name = "other"
	case 7: // duplicates, which are valid
	}
	return []metav1.OwnerReference{first, second}
}

func (c *comparison) otherPatchRequest(name string) request {
	patchType := pick(c, types.StrategicMergePatchType, types.MergePatchType, types.JSONPatchType)
	patch := pick(c,
		`{}`, `{"metadata":{}}`, `{"metadata":null}`, `{`, `[]`, `"text"`, `null`,
		`{"metadata":{"name":"another"}}`, `{"metadata":{"namespace":"another"}}`,
		`{"metadata":{"resourceVersion":null}}`, `{"metadata":{"resourceVersion":""}}`, `{"metadata":{"resourceVersion":"x"}}`,
		`{"metadata":{"finalizers":"text"}}`, `{"metadata":{"ownerReferences":[7]}}`, `{"metadata":{"ownerReferences":[{"name":"n"}]}}`,
		`{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null}}`,
		`{"metadata":{"deletionGracePeriodSeconds":5}}`, `{"metadata":{"generation":77,"creationTimestamp":null}}`,
		`{"metadata":{"finalizers":null}}`, `{"metadata":{"ownerReferences":null}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["test.example/a"]}}`)
	if patchType == types.JSONPatchType {
		patch = pick(c, patch,
			`[{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"u1"},{"op":"remove","path":"/metadata/ownerReferences/0"}]`,
			`[{"op":"remove","path":"/metadata/finalizers/0"}]`, `[{"op":"add","path":"/metadata/labels/test","value":"c"}]`,
			`[{"op":"replace","path":"/metadata/uid","value":"wrong"}]`)
	}
	return request{description: fmt.Sprintf("patch %s %s", patchType, patch), send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
		return c.sendPatch(at, name, patchType, patch)
	}}
}

// compareWrongPaths sends requests to paths where nothing is served.
func (c *comparison) compareWrongPaths() {
	c.Helper()
	unknown := schema.GroupVersionResource{Group: "unknown.example", Version: "v1", Resource: "unknowns"}
	otherVersion := ConfigMaps.GroupVersionResource.GroupResource().WithVersion("v2")
	for _, gvr := range []schema.GroupVersionResource{ConfigMaps.GroupVersionResource, widgetType.GroupVersionResource, widgetType.GroupVersionResource.GroupResource().WithVersion("v1beta1"), widgetType.GroupVersionResource.GroupResource().WithVersion("v9"), Namespaces.GroupVersionResource, CRDs.GroupVersionResource, unknown, otherVersion} {
		for _, namespace := range []string{"", testNamespace} {
			requests := map[string]func(at metadata.ResourceInterface) error{
				"get": func(at metadata.ResourceInterface) error {
					_, err := at.Get(c.Context(), "absent", metav1.GetOptions{})
					return err
				},
				"list": func(at metadata.ResourceInterface) error {
					_, err := at.List(c.Context(), metav1.ListOptions{})
					return err
				},
				"delete": func(at metadata.ResourceInterface) error {
					return at.Delete(c.Context(), "absent", metav1.DeleteOptions{})
				},
				"patch": func(at metadata.ResourceInterface) error {
					return c.sendPatch(at, "absent", types.MergePatchType, `{}`)
				},
				"strategic patch": func(at metadata.ResourceInterface) error {
					return c.sendPatch(at, "absent", types.StrategicMergePatchType, `{}`)
				},
			}
			if gvr != CRDs.GroupVersionResource { // it would delete the definition of the widgets
				requests["delete collection"] = func(at metadata.ResourceInterface) error {
					return at.DeleteCollection(c.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
				}
			}
			for verb, send := range requests {
				r, m := send(c.real.Resource(gvr).Namespace(namespace)), send(c.client.Resource(gvr).Namespace(namespace))
				if class(r) != class(m) {
					c.Errorf("%s %s in namespace %q:\nreal:   %s %v\nmemory: %s %v", verb, gvr, namespace, class(r), show2(r), class(m), show2(m))
				}
			}
		}
	}
}

// compareCreations compares POST requests, which create nothing.
func (c *comparison) compareCreations() {
	c.Helper()
	memory := dynamic.NewForConfigOrDie(&rest.Config{Host: "http://memory", Transport: Transport(c.memory), QPS: -1})
	const existing = "o-existing"
	c.create(ConfigMaps, existing)
	c.create(widgetType, existing)
	valid := map[string]any{"name": "new", "namespace": testNamespace, "uid": "mine", "generation": int64(7), "deletionTimestamp": "2026-01-01T00:00:00Z"}
	for _, kind := range []*Type{ConfigMaps, jobType, widgetType} {
		for _, change := range []map[string]any{
			{},
			{"name": nil},
			{"name": existing},
			{"name": "not/valid"},
			{"namespace": nil},
			{"namespace": "another"},
			{"resourceVersion": "1"},
			{"finalizers": []any{"unqualified"}},
			{"finalizers": []any{"test.example/a"}},
			{"finalizers": "text"},
			{"labels": map[string]any{"a b": ""}},
			{"ownerReferences": []any{map[string]any{"name": "n"}}},
			{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Event", "name": "n", "uid": "u"}}},
		} {
			for _, namespace := range []string{testNamespace, "missing"} {
				metadata := maps.Clone(valid)
				maps.Copy(metadata, change)
				maps.DeleteFunc(metadata, func(_ string, value any) bool { return value == nil })
				if metadata["namespace"] == testNamespace {
					metadata["namespace"] = namespace
				}
				u := unstructuredObject(kind.GroupVersion().String(), kind.Kind, "", map[string]any{"metadata": metadata})
				if kind == jobType {
					u.Object["spec"] = map[string]any{"template": podTemplate()}
				}
				options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
				if metadata["resourceVersion"] != nil {
					options.DryRun = nil // only then it is an error
				}
				send := func(client dynamic.Interface) error {
					_, err := client.Resource(kind.GroupVersionResource).Namespace(namespace).Create(c.Context(), u, options)
					return err
				}
				if r, m := send(c.creator), send(memory); class(r) != class(m) || missing(r) != missing(m) {
					c.Errorf("create in %s: %v:\nreal:   %s %v\nmemory: %s %v", namespace, u, class(r), r, class(m), m)
				}
			}
		}
	}
}

// compareMissingNamespace compares requests for objects whose Namespace is gone. Its deletion on
// the real server ends without a namespace controller, so that the objects stay.
func (c *comparison) compareMissingNamespace() {
	c.Helper()
	const namespace = "gone"
	c.createReal(Namespaces, unstructuredObject("v1", "Namespace", namespace, nil))
	c.memory.Add(Namespaces.Object("", namespace))
	kinds := []*Type{ConfigMaps, jobType, widgetType}
	for _, kind := range kinds {
		for _, name := range []string{"a", "b"} {
			c.createIn(namespace, kind, name, []string{"test.example/a"}, c.references(1))
		}
	}
	options := metav1.DeleteOptions{}
	if err := c.real.Resource(Namespaces.GroupVersionResource).Delete(c.Context(), namespace, options); err != nil {
		c.Fatal(err)
	}
	if _, err := c.memory.Delete(Namespaces.GroupVersionResource, "", namespace, options); err != nil {
		c.Fatal(err)
	}
	c.finalize(namespace)

	patch := func(patchType types.PatchType, name, patch string) request {
		return request{description: fmt.Sprintf("patch %s %s", name, patch), send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return c.sendPatch(at, name, patchType, patch)
		}}
	}
	requests := []request{
		patch(types.MergePatchType, "a", `{"metadata":{"finalizers":null}}`),
		patch(types.MergePatchType, "a", `{}`),
		patch(types.MergePatchType, "a", `{"metadata":{"uid":"another"}}`),
		patch(types.MergePatchType, "a", `{"metadata":{"resourceVersion":"999999999"}}`),
		patch(types.MergePatchType, "a", `[]`),
		patch(types.MergePatchType, "a", `{"metadata":{"name":"another"}}`),
		patch(types.MergePatchType, "a", `{"metadata":{"finalizers":"text"}}`),
		patch(types.MergePatchType, "absent", `{}`),
		patch(types.StrategicMergePatchType, "a", `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u1"}]}}`),
		patch(types.StrategicMergePatchType, "absent", `{}`),
		patch(types.JSONPatchType, "a", `[{"op":"remove","path":"/metadata/finalizers/0"}]`),
		{description: "list", send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			_, err := at.List(c.Context(), metav1.ListOptions{})
			return err
		}},
		{description: "delete", send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return at.Delete(c.Context(), "a", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
		}},
		{description: "delete again", send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return at.Delete(c.Context(), "a", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
		}},
		{description: "delete of an absent object", send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return at.Delete(c.Context(), "absent", metav1.DeleteOptions{})
		}},
		patch(types.MergePatchType, "a", `{"metadata":{"finalizers":null}}`),
		{description: "delete collection", send: func(at metadata.ResourceInterface, _ *metav1.PartialObjectMetadata) error {
			return at.DeleteCollection(c.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		}},
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// The plugin NamespaceLifecycle sees Namespaces through a watch.
		_, err := c.creator.Resource(ConfigMaps.GroupVersionResource).Namespace(namespace).Create(c.Context(), unstructuredObject("v1", "ConfigMap", "late", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsNotFound(err) {
			break
		}
		if time.Now().After(deadline) {
			c.Fatal("the Namespace is gone, and an object can be created in it: ", err)
		}
	}
	for _, kind := range kinds {
		realAt, memoryAt := c.real.Resource(kind.GroupVersionResource).Namespace(namespace), c.client.Resource(kind.GroupVersionResource).Namespace(namespace)
		for _, r := range requests {
			realErr, memoryErr := r.send(realAt, nil), r.send(memoryAt, nil)
			if class(realErr) != class(memoryErr) || missing(realErr) != missing(memoryErr) {
				c.Errorf("%s in a missing namespace: %s:\nreal:   %s %v\nmemory: %s %v", kind.Kind, r.description, class(realErr), realErr, class(memoryErr), memoryErr)
			}
			for _, name := range []string{"a", "b"} {
				if inReal, inMemory := c.get(realAt, name), c.get(memoryAt, name); !equality.Semantic.DeepEqual(state(inReal), state(inMemory)) {
					c.Errorf("%s in a missing namespace: %s:\nreal:   %s\nmemory: %s", kind.Kind, r.description, show(inReal), show(inMemory))
				}
			}
		}
	}
	c.start = strconv.Itoa(c.memory.Revision())
}

// missing returns what a 404 names as missing.
func missing(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) || status.Status().Details == nil {
		return ""
	}
	return status.Status().Details.Kind + " " + status.Status().Details.Name
}

// watchEvent is an event of either server.
type watchEvent struct {
	resourceVersion int
	text            string
}

// compareEvents compares all events and their order across types, which is the order of their
// resourceVersions on both servers.
func (c *comparison) compareEvents() {
	c.Helper()
	const last = "o-last"
	var real, memory []watchEvent
	for _, kind := range randomTypes {
		c.create(kind, last)
		w, err := c.at(c.client, kind).Watch(c.Context(), metav1.ListOptions{ResourceVersion: c.start})
		if err != nil {
			c.Fatal(err)
		}
		defer w.Stop()
		real = append(real, c.eventsUntil(kind, c.watches[kind], c.get(c.at(c.real, kind), last))...)
		memory = append(memory, c.eventsUntil(kind, w, c.get(c.at(c.client, kind), last))...)
	}
	for _, events := range [][]watchEvent{real, memory} {
		slices.SortFunc(events, func(a, b watchEvent) int { return cmp.Compare(a.resourceVersion, b.resourceVersion) })
	}
	for i := range max(len(real), len(memory)) {
		if i >= min(len(real), len(memory)) || real[i].text != memory[i].text {
			c.Fatalf("event %d:\nreal:   %v\nmemory: %v", i, real[min(i, len(real)):min(i+3, len(real))], memory[min(i, len(memory)):min(i+3, len(memory))])
		}
	}
	c.Logf("%d events", len(real))
}

// eventsUntil returns the events of a watch up to the last one of an object.
func (c *comparison) eventsUntil(kind *Type, w watch.Interface, last *metav1.PartialObjectMetadata) []watchEvent {
	c.Helper()
	var list []watchEvent
	timeout := time.After(20 * time.Second)
	for {
		select {
		case e := <-w.ResultChan():
			o, ok := e.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				c.Fatalf("%s: event %q: %v", kind.Kind, e.Type, e.Object)
			}
			if o.Name[0] != 'o' { // not an object of this test
				continue
			}
			next := watchEvent{number(c.T, o.ResourceVersion), eventText(kind, e.Type, o)}
			if len(list) > 0 && list[len(list)-1].resourceVersion >= next.resourceVersion {
				c.Errorf("event %v after %v", next, list[len(list)-1])
			}
			list = append(list, next)
			if o.ResourceVersion == last.ResourceVersion {
				return list
			}
		case <-timeout:
			c.Fatalf("%s: no event with resourceVersion %s", kind.Kind, last.ResourceVersion)
		}
	}
}

func eventText(kind *Type, event watch.EventType, o *metav1.PartialObjectMetadata) string {
	return fmt.Sprint(kind.Kind, " ", event, " ", o.Name, " ", show(o))
}
