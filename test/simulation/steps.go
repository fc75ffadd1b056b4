package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// namespaces are those of users' objects.
var namespaces = []string{"east", "west"}

// objects is how many objects users have at most, and held is the finalizer of a controller that nobody runs.
const (
	objects = 20
	held    = "example.com/held"
)

// typeOf and whereIs say where the object with a number is.
func typeOf(n int) *apiserver.Type { return kinds[n%len(kinds)] }

func whereIs(n int) (namespace, name string) {
	if typeOf(n).Namespaced {
		namespace = namespaces[n/len(kinds)%len(namespaces)]
	}
	return namespace, fmt.Sprintf("o-%d", n)
}

// step carries out one step of a script. The caller holds mu. An object or type that is not there is no error.
func (d *day) step(s step) error {
	words := s.words
	d.countLocked("step " + words[0])
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			panic(fmt.Sprintf("step %s: %v", s, err)) // of a script that somebody wrote
		}
		return n
	}
	switch words[0] {
	case "create":
		d.create(number(1), words[2:])
	case "delete":
		d.delete(number(1), words[2])
	case "owners":
		d.patch(number(1), map[string]any{"ownerReferences": d.references(number(1), words[2:])})
	case "hold", "release":
		d.hold(number(1), words[0] == "hold")
	case "solidify":
		d.solidify(number(1))
	case "touch":
		d.patch(number(1), map[string]any{"labels": map[string]any{"touched": s.at.String()}})
	case "namespace":
		d.namespace(words[1], words[2])
	case "definition":
		d.definition(words[1])
	case "hide":
		d.server.Unserve(gadgets.GroupResource())
	case "show":
		if !d.serves(gadgets) {
			d.server.Serve(gadgets)
		}
	case "lease":
		d.lease(words[1])
	case "start":
		d.want(d.slots[words[1]], true)
	case "stop", "crash":
		s := d.slots[words[1]]
		d.want(s, false)
		if s.now != nil && words[0] == "stop" {
			s.now.cancel()
		} else if s.now != nil {
			s.now.kill()
		}
	case "kill": // and start again
		if now := d.slots[words[1]].now; now != nil {
			now.doomed = doom{point(words[2]), number(3)}
		}
	case "restart-server":
		for _, w := range d.watches {
			w.cancel()
		}
		d.weather = append(d.weather, weather{Kind: refuses, slot: "both", class: anything, until: time.Now().Add(time.Duration(number(1)) * time.Second)})
	case "end-watches":
		for _, w := range d.watches {
			if w.slot == words[1] {
				w.cancel()
			}
		}
	default:
		w, err := parseWeather(words, time.Now())
		if err != nil {
			return err
		}
		d.weather = append(d.weather, w)
	}
	return nil
}

// references returns the owner references that the words ask for, of an object in place. A word is the number
// of an owner, with these suffixes: ! blocks its deletion, ? means an earlier object with its name. "none" never existed.
func (d *day) references(of int, words []string) []metav1.OwnerReference {
	out := []metav1.OwnerReference{}
	for _, word := range words {
		blocks := strings.HasSuffix(word, "!")
		word = strings.TrimSuffix(word, "!")
		earlier := strings.HasSuffix(word, "?")
		word = strings.TrimSuffix(word, "?")
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "none", UID: "99999999-0000-4000-8000-000000000000", BlockOwnerDeletion: &blocks}
		if n, err := strconv.Atoi(word); err == nil {
			owner := typeOf(n)
			_, name := whereIs(n)
			r.APIVersion, r.Kind, r.Name = owner.GroupVersion().String(), owner.Kind, name
			r.UID = types.UID(fmt.Sprintf("99999999-0000-4000-8000-%012d", n))
			uids := d.uids[n]
			if earlier && len(uids) > 1 {
				uids = uids[:len(uids)-1]
			}
			if len(uids) > 0 {
				r.UID = uids[len(uids)-1]
			}
		}
		if !slices.ContainsFunc(out, func(o metav1.OwnerReference) bool { return o.UID == r.UID }) {
			out = append(out, r)
		}
	}
	return out
}

func (d *day) create(n int, words []string) {
	t := typeOf(n)
	namespace, name := whereIs(n)
	o := t.Object(namespace, name)
	if len(words) > 0 && words[0] == "held" {
		o.Finalizers, words = []string{held}, words[1:]
	}
	o.OwnerReferences = d.references(n, words)
	fields := o.Whole()
	made, err := d.server.Create(t.GroupVersionResource, namespace, fields, metav1.CreateOptions{})
	if err == nil {
		d.uids[n] = append(d.uids[n], made.UID)
		d.countLocked("object")
	}
}

func (d *day) delete(n int, policy string) {
	var o metav1.DeleteOptions
	if policy != "Default" {
		p := metav1.DeletionPropagation(policy)
		o.PropagationPolicy = &p
	}
	namespace, name := whereIs(n)
	_, _ = d.server.Delete(typeOf(n).GroupVersionResource, namespace, name, o) // fails if it is not there
}

// patch changes the metadata of an object, if it is there.
func (d *day) patch(n int, metadata map[string]any) {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		panic(err) // of strings and lists
	}
	namespace, name := whereIs(n)
	_, _ = d.server.Patch(typeOf(n).GroupVersionResource, namespace, name, types.MergePatchType, body)
}

// hold adds the finalizer of nobody to an object, or removes it.
func (d *day) hold(n int, add bool) {
	namespace, name := whereIs(n)
	o, err := d.server.Get(typeOf(n).GroupVersionResource, namespace, name)
	if err != nil {
		return
	}
	finalizers := slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == held })
	if add {
		finalizers = append(finalizers, held)
	}
	d.patch(n, map[string]any{"finalizers": finalizers})
}

// solidify makes an owner that waits for its dependents stay for another reason, so that it counts as solid again.
func (d *day) solidify(n int) {
	namespace, name := whereIs(n)
	if o, err := d.server.Get(typeOf(n).GroupVersionResource, namespace, name); err == nil && slices.Contains(o.Finalizers, metav1.FinalizerDeleteDependents) {
		d.patch(n, map[string]any{"finalizers": []string{held}})
	}
}

func (d *day) namespace(name, do string) {
	if do == "delete" {
		_, _ = d.server.Delete(apiserver.Namespaces.GroupVersionResource, "", name, metav1.DeleteOptions{})
	} else if _, err := d.server.Get(apiserver.Namespaces.GroupVersionResource, "", name); err != nil {
		d.server.Add(apiserver.Namespaces.Object("", name))
	}
}

// definition deletes the CustomResourceDefinition of Widgets, with all Widgets, or creates it again.
func (d *day) definition(do string) {
	o := widgets.Definition()
	if do == "delete" {
		_, _ = d.server.Delete(apiserver.CRDs.GroupVersionResource, "", o.Name, metav1.DeleteOptions{})
	} else if _, err := d.server.Get(apiserver.CRDs.GroupVersionResource, "", o.Name); err != nil {
		d.server.Add(o)
	}
}

// lease does to the Lease of the collectors what only somebody else does.
func (d *day) lease(do string) {
	at := leaseOf.GroupVersionResource
	now := time.Now()
	set := func(spec map[string]any) {
		body, err := json.Marshal(map[string]any{"spec": spec})
		if err != nil {
			panic(err) // of strings and numbers
		}
		_, _ = d.server.Patch(at, leasePlace.namespace, leasePlace.name, types.MergePatchType, body)
	}
	switch do {
	case "delete":
		_, _ = d.server.Delete(at, leasePlace.namespace, leasePlace.name, metav1.DeleteOptions{})
	case "steal":
		set(map[string]any{"holderIdentity": "somebody", "leaseDurationSeconds": 15, "renewTime": metav1.NewMicroTime(now)})
	case "release":
		set(map[string]any{"holderIdentity": "", "leaseDurationSeconds": 1})
	case "touch": // without another holder
		set(map[string]any{"leaseTransitions": 7})
	}
	d.judge.interfered(now)
}
