// Package canary gives the cluster's own garbage collector something to do, and measures whether
// it does it: it creates an owner and a dependent, deletes the owner, and waits until the
// dependent is gone. Both are ConfigMaps without data.
package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Every object of a canary has a name that begins like this, and this field manager.
const (
	namePrefix   = "gc-canary-"
	fieldManager = "kubectl-gc-canary"

	ownerSuffix, dependentSuffix = "-owner", "-dependent"
	randomLength                 = 10
	// maxLeftovers limits the objects of earlier canaries that one canary looks at: each costs requests, and
	// anybody may create objects with such names.
	maxLeftovers = 10
)

// labels tell people where the objects come from. The API server records no field manager of an
// object in which nobody has set a field.
var labels = map[string]string{"app.kubernetes.io/managed-by": "kubectl-gc"}

var configMaps = snapshot.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

const (
	poll        = 100 * time.Millisecond
	cleanupTime = 15 * time.Second
	maxTries    = 3 // of a removal, while the object changes
)

// Canary is one run in a namespace.
type Canary struct {
	client  *client.Client
	writer  *write.Writer
	creator *write.Creator

	owner, dependent *part
	leftovers        []*part
}

// part is one of the two objects of a canary.
type part struct {
	object.Identity        // the UID is empty if no answer has told it
	version         string // the resourceVersion that it was created with
	unanswered      bool   // the API server may have created it, or still create it
}

// TestResult is what the collector did, and what became of the objects.
type TestResult struct {
	Test    reason.CanaryTest
	Removed []object.Identity // what an earlier canary had left, and is deleted now
	Left    []Left            // what is left of this canary, or of an earlier one and unchanged
}

// Left is an object that a canary could not delete.
type Left struct {
	object.Identity
	Reason  error
	Changed bool // by somebody else, so it was not deleted on purpose
}

// New returns a canary with random names.
func New(c *client.Client, seen *snapshot.Snapshot, namespace string) *Canary {
	w := write.New(c, seen, false)
	name := namePrefix + rand.String(randomLength)
	out := &Canary{
		client: c, writer: w, creator: w.Creator(func(object.Identity) string { return fieldManager }),
		owner: newPart(namespace, name+ownerSuffix), dependent: newPart(namespace, name+dependentSuffix),
	}
	for _, o := range seen.Objects {
		if len(out.leftovers) < maxLeftovers && o.Kind == configMaps.Kind && o.APIVersion == "v1" && o.Namespace == namespace && isName(o.Name) {
			out.leftovers = append(out.leftovers, &part{Identity: o.Identity})
		}
	}
	return out
}

// isName reports whether New may give an object that name.
func isName(name string) bool {
	stem, ok := strings.CutPrefix(name, namePrefix)
	return ok && (len(stem) == randomLength+len(ownerSuffix) && strings.HasSuffix(stem, ownerSuffix) ||
		len(stem) == randomLength+len(dependentSuffix) && strings.HasSuffix(stem, dependentSuffix))
}

func newPart(namespace, name string) *part {
	return &part{Identity: object.Identity{APIVersion: configMaps.APIVersion(), Kind: configMaps.Kind, Namespace: namespace, Name: name}}
}

// Objects returns the objects that Run creates and deletes.
func (c *Canary) Objects() []object.Identity {
	return []object.Identity{c.owner.Identity, c.dependent.Identity}
}

// Run waits up to patience for the collector. First it removes what a killed canary has left, as far as
// the scan shows it. In the end it removes its own objects, even if the context has ended. It
// deletes only objects that nobody else has changed; the TestResult says what is left, even with an
// error. Two canaries in one namespace at the same time may remove each other's objects.
func (c *Canary) Run(ctx context.Context, patience time.Duration) (TestResult, error) {
	var out TestResult
	for _, p := range c.leftovers {
		deleted, left := c.remove(ctx, p)
		switch {
		case deleted:
			out.Removed = append(out.Removed, p.Identity)
		case left != nil && !left.Changed: // what was changed is somebody else's now
			out.Left = append(out.Left, *left)
		}
	}
	var err error
	out.Test, err = c.observe(ctx, patience)
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	for _, p := range []*part{c.owner, c.dependent} {
		if p.UID == "" && !p.unanswered {
			continue // it was not created
		}
		if _, left := c.remove(cleaning, p); left != nil {
			out.Left = append(out.Left, *left)
		}
	}
	return out, err
}

// observe creates the objects, deletes the owner and waits until the dependent is gone.
func (c *Canary) observe(ctx context.Context, patience time.Duration) (out reason.CanaryTest, err error) {
	owner, err := c.create(ctx, c.owner)
	if err != nil {
		return out, err
	}
	if _, err := c.create(ctx, c.dependent, metav1.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}); err != nil {
		return out, err
	}
	if _, err := c.writer.Delete(ctx, owner, metav1.DeletePropagationBackground, nil); err != nil {
		return out, err
	}
	for begun := time.Now(); ; {
		now, err := c.writer.Read(ctx, c.dependent.Identity)
		out.Collected, out.Took = err == nil && now == nil, time.Since(begun)
		if err != nil || out.Collected || out.Took >= patience {
			return out, err
		}
		if err := client.Wait(ctx, poll); err != nil {
			return out, err
		}
	}
}

func (c *Canary) create(ctx context.Context, p *part, owners ...metav1.OwnerReference) (*object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: p.APIVersion, Kind: p.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, OwnerReferences: owners, Labels: labels},
	})
	if err != nil {
		return nil, err
	}
	o, err := c.creator.Create(ctx, p.Identity, body)
	if err != nil {
		p.unanswered = !refusedCreation(err)
		return nil, err
	}
	p.Identity, p.version = o.Identity, o.ResourceVersion
	return o, nil
}

// refusedCreation reports whether the error proves that nothing was created.
func refusedCreation(err error) bool {
	var failed *client.RequestError
	return errors.As(err, &failed) && slices.Contains([]snapshot.ErrorClass{
		snapshot.Forbidden, snapshot.Refused, snapshot.Invalid, snapshot.Vanished, snapshot.Unverified, snapshot.Exists,
	}, failed.Reason)
}

// configMap is a ConfigMap as it is now.
type configMap struct {
	Metadata         metav1.ObjectMeta
	Data, BinaryData map[string]any
	Immutable        bool
}

// remove deletes the object if nobody but a canary has changed it. It reports
// whether it has deleted the object, or else what is left: nil if the object is gone.
func (c *Canary) remove(ctx context.Context, p *part) (deleted bool, left *Left) {
	var reason error
	for range maxTries {
		var now configMap
		err := client.GetWhole(ctx, c.client, client.Query{Type: configMaps, Namespace: p.Namespace, Name: p.Name}, &now)
		switch {
		case client.IsNotFound(err, configMaps.GroupResource(), p.Name) && p.unanswered:
			return false, &Left{Identity: p.Identity, Reason: errors.New("the API server did not answer its creation: it does not exist now, and may still be created")}
		case client.IsNotFound(err, configMaps.GroupResource(), p.Name), err == nil && p.UID != "" && now.Metadata.UID != p.UID:
			return false, nil
		case err != nil:
			return false, &Left{Identity: p.Identity, Reason: fmt.Errorf("find out whether it still exists: %w", err)}
		}
		p.UID, p.unanswered = now.Metadata.UID, false
		if change := p.changeIn(&now); change != "" {
			return false, &Left{Identity: p.Identity, Reason: errors.New(change), Changed: true}
		}
		remains, err := c.writer.Delete(ctx, &object.Object{Identity: p.Identity, ResourceVersion: now.Metadata.ResourceVersion}, metav1.DeletePropagationBackground, nil)
		var failed *client.RequestError
		switch {
		case errors.As(err, &failed) && failed.Reason == snapshot.Gone:
			return false, nil
		case errors.As(err, &failed) && failed.Reason == snapshot.Conflict:
			reason = err // look again
			continue
		case err != nil:
			return false, &Left{Identity: p.Identity, Reason: err}
		case remains != nil:
			return false, &Left{Identity: p.Identity, Reason: fmt.Errorf("it is being deleted, and waits for its finalizers %q", remains.Finalizers)}
		}
		return true, nil
	}
	return false, &Left{Identity: p.Identity, Reason: reason}
}

// changeIn returns what shows that somebody else has changed the object since a canary created it,
// or an empty string. Admission may have changed it as it was created: then only its
// resourceVersion shows that it is as it was.
func (p *part) changeIn(now *configMap) string {
	m := &now.Metadata
	switch {
	case len(now.Data)+len(now.BinaryData) > 0:
		return "it has data now, and a canary has none"
	case p.version != "" && m.ResourceVersion == p.version:
		return ""
	case now.Immutable, !maps.Equal(m.Labels, labels), len(m.Annotations) > 0, len(m.Finalizers) > 0, !p.ownedAsCreated(m.OwnerReferences):
		return "its metadata is not that of a canary any more"
	case len(m.ManagedFields) == 0, slices.ContainsFunc(m.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager != fieldManager }):
		return "another client has created or changed it"
	}
	return ""
}

// ownedAsCreated reports whether these are the owners of an owner, or of the dependent beside it.
func (p *part) ownedAsCreated(owners []metav1.OwnerReference) bool {
	stem, isDependent := strings.CutSuffix(p.Name, dependentSuffix)
	if !isDependent {
		return len(owners) == 0
	}
	return len(owners) == 1 && owners[0].Kind == configMaps.Kind && owners[0].Name == stem+ownerSuffix
}
