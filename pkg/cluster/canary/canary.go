// Package canary gives the cluster's own garbage collector something to do, and measures whether
// it does it: it creates an owner and a dependent, deletes the owner, and waits until the
// dependent is gone. Both are ConfigMaps without data.
package canary

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Every object of a canary has a name that begins like this, and this field manager.
const (
	namePrefix   = "gc-canary-"
	fieldManager = "kubectl-gc-canary"
)

// labels tell people where the objects come from. The API server records no field manager of an
// object in which nobody has set a field.
var labels = map[string]string{"app.kubernetes.io/managed-by": "kubectl-gc"}

const (
	poll        = 100 * time.Millisecond
	cleanupTime = 15 * time.Second
)

// Result is what the collector did.
type Result struct {
	Collected bool          // the dependent is gone
	Took      time.Duration // until it was seen to be gone, or for how long that was waited for
}

type run struct {
	writer  *write.Writer
	creator *write.Creator
}

// Run runs a canary in a namespace and waits for the collector as long as patience. It first
// removes what a canary has left that was killed, as far as the scan shows it. It removes its own
// objects however it ends, unless it is killed. Two canaries at a time may remove each other's
// objects.
func Run(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, namespace string, patience time.Duration) (result Result, err error) {
	w := write.New(c, seen, false)
	r := run{w, w.Creator(fieldManager)}
	if err := r.removeLeftovers(ctx, seen, namespace); err != nil {
		return Result{}, err
	}
	var made []*object.Object
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		for _, o := range made {
			err = errors.Join(err, r.remove(cleaning, o.Identity))
		}
	}()
	name := namePrefix + rand.String(8)
	owner, err := r.create(ctx, namespace, name+"-owner", nil)
	if err != nil {
		return Result{}, err
	}
	made = append(made, owner)
	dependent, err := r.create(ctx, namespace, name+"-dependent", []metav1.OwnerReference{{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}})
	if err != nil {
		return Result{}, err
	}
	made = append(made, dependent)
	if _, err := w.Delete(ctx, owner, metav1.DeletePropagationBackground, nil); err != nil {
		return Result{}, err
	}
	for begun := time.Now(); ; {
		now, err := w.Read(ctx, dependent.Identity)
		result := Result{Collected: now == nil, Took: time.Since(begun)}
		if err != nil || result.Collected || result.Took >= patience {
			return result, err
		}
		if err := client.Wait(ctx, poll); err != nil {
			return Result{}, err
		}
	}
}

func identity(namespace, name string) object.Identity {
	return object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}
}

func (r run) create(ctx context.Context, namespace, name string, owners []metav1.OwnerReference) (*object.Object, error) {
	at := identity(namespace, name)
	body, err := json.Marshal(metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: at.APIVersion, Kind: at.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners, Labels: labels},
	})
	if err != nil {
		return nil, err
	}
	return r.creator.Create(ctx, at, body)
}

// remove deletes an object if it still exists.
func (r run) remove(ctx context.Context, at object.Identity) error {
	now, err := r.writer.Read(ctx, at)
	if err != nil || now == nil {
		return err
	}
	_, err = r.writer.Delete(ctx, now, metav1.DeletePropagationBackground, nil)
	var failed *client.RequestError
	if errors.As(err, &failed) && failed.Reason == snapshot.Gone {
		return nil
	}
	return err
}

func (r run) removeLeftovers(ctx context.Context, seen *snapshot.Snapshot, namespace string) error {
	var at []object.Identity
	for _, o := range seen.Objects {
		if o.Kind == "ConfigMap" && o.APIVersion == "v1" && o.Namespace == namespace && strings.HasPrefix(o.Name, namePrefix) {
			at = append(at, o.Identity)
		}
	}
	made, err := r.creator.Made(ctx, at)
	for i, uid := range made {
		if i.UID == uid {
			err = errors.Join(err, r.remove(ctx, i))
		}
	}
	return err
}
