package e2e

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// url returns the path of an object.
func (t *traced) url(o object) string {
	t.Helper()
	m, err := t.mapping(o)
	t.must(err)
	prefix := "/apis/" + m.Resource.Group
	if m.Resource.Group == "" {
		prefix = "/api"
	}
	return path.Join(prefix, m.Resource.Version, "namespaces", o.GetNamespace(), m.Resource.Resource, o.GetName())
}

// raw returns a client for requests of which every byte counts, as somebody or, if that is empty, as the admin.
func (t *traced) raw(user string, change ...func(*rest.Config)) rest.Interface {
	t.Helper()
	config := rest.CopyConfig(t.config)
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	}
	for _, c := range change {
		c(config)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	t.must(err)
	return client.RESTClient()
}

// TestTraceBlamesNobodyForWhatSomebodyElseDid tries to have ines blamed. She deletes what is hers, and never a victim.
func TestTraceBlamesNobodyForWhatSomebodyElseDid(t *testing.T) {
	const ines, mallory = "ines@example.com", "mallory@example.com"
	log := filepath.Join(t.TempDir(), "audit.log")
	s := newSceneOf(t, testcluster.Options{
		ManagerFlags:   []string{"use-service-account-credentials=true"},
		APIServerFlags: auditFlags(t, log, strings.ReplaceAll(lessDetail, "namespaces: [at-metadata]", "namespaces: [at-metadata, also-at-metadata]")),
	})
	s.defineTestKinds()
	w := &traced{witness: newWitness(s, watchedTypes...), log: log}
	background := metav1.DeletePropagationBackground
	deletes := func(user string, o object) {
		t.Helper()
		s.must(w.clientOf(w.as(user), o).Delete(s.Context(), o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}))
	}
	patches := func(user string, o object, body string) {
		t.Helper()
		_, err := w.clientOf(w.as(user), o).Patch(s.Context(), o.GetName(), types.MergePatchType, []byte(body), metav1.PatchOptions{})
		s.must(err)
	}
	refersTo := func(of ...object) string {
		var refs []string
		for _, o := range of {
			refs = append(refs, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`, o.GetAPIVersion(), o.GetKind(), o.GetName(), o.GetUID()))
		}
		return `{"metadata":{"ownerReferences":[` + strings.Join(refs, ",") + `]}}`
	}
	// goneOwner returns an object that ines has deleted.
	goneOwner := func(ns string) object {
		t.Helper()
		o := s.create(configMap(ns, "of-ines"))
		deletes(ines, o)
		s.awaitGone(o)
		return o
	}
	var victims []object
	victim := func(o object) object { victims = append(victims, o); return o }
	s.namespace("settling")
	for name, attack := range map[string]func(ns string){
		"a real DELETE whose URL says dryRun, at level Metadata": func(string) {
			ns := "at-metadata"
			s.create(newObject("v1", "Namespace", "", ns))
			o := victim(s.create(configMap(ns, "victim")))
			s.must(w.raw(mallory).Delete().AbsPath(w.url(o)).Param("dryRun", "All").SetHeader("Content-Type", "application/json").
				Body([]byte(`{"kind":"DeleteOptions","apiVersion":"v1"}`)).Do(s.Context()).Error())
			s.awaitGone(o)
			_ = w.raw(ines).Delete().AbsPath(w.url(o)).Do(s.Context()).Error() // 404
		},
		"a dry run of hers, at level Metadata, before the deletion": func(string) {
			ns := "also-at-metadata"
			s.create(newObject("v1", "Namespace", "", ns))
			o := victim(s.create(configMap(ns, "victim")))
			s.must(w.raw(ines).Delete().AbsPath(w.url(o)).Body([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`)).SetHeader("Content-Type", "application/json").Do(s.Context()).Error())
			deletes(mallory, o)
			s.awaitGone(o)
		},
		"a dry run of hers on a Secret": func(ns string) {
			o := victim(s.create(secret(ns, "victim")))
			s.must(w.raw(ines).Delete().AbsPath(w.url(o)).Body([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`)).SetHeader("Content-Type", "application/json").Do(s.Context()).Error())
		},
		"a reference that is written after her deletion of the owner": func(ns string) {
			of := goneOwner(ns)
			o := victim(s.create(configMap(ns, "victim")))
			patches(mallory, o, refersTo(of))
			s.awaitGone(o)
		},
		"an object that is created with a reference to what she deleted": func(ns string) {
			of := goneOwner(ns)
			o, err := w.clientOf(w.as(mallory), configMap(ns, "victim")).Create(s.Context(), configMap(ns, "victim", ownedBy(referenceTo(of))).Unstructured, metav1.CreateOptions{})
			s.must(err)
			s.awaitGone(victim(object{o}))
		},
		"a reference that she orphaned, and that is written again": func(ns string) {
			of := s.create(configMap(ns, "of-ines"))
			o := victim(s.create(configMap(ns, "victim", ownedBy(referenceTo(of)))))
			orphan := metav1.DeletePropagationOrphan
			s.must(w.clientOf(w.as(ines), of).Delete(s.Context(), of.GetName(), metav1.DeleteOptions{PropagationPolicy: &orphan}))
			s.awaitGone(of)
			patches(mallory, o, refersTo(of))
			s.awaitGone(o)
		},
		"another owner, which is removed after she deleted hers": func(ns string) {
			of, other := s.create(configMap(ns, "of-ines")), s.create(configMap(ns, "other"))
			o := victim(s.create(configMap(ns, "victim", ownedBy(referenceTo(of), referenceTo(other)))))
			deletes(ines, of)
			patches(mallory, o, refersTo(of)) // the object stays if the collector removes the reference to hers just after that
		},
		"a status that says who owns the object, at level Request": func(string) {
			ns := "at-request"
			s.create(newObject("v1", "Namespace", "", ns))
			of, owner := goneOwner(ns), s.create(configMap(ns, "owner"))
			o := victim(s.create(pod(ns, "victim", ownedBy(referenceTo(owner)))))
			forged := s.live(o)
			forged.SetOwnerReferences([]metav1.OwnerReference{referenceTo(of)})
			now := metav1.Now()
			forged.SetDeletionTimestamp(&now)
			_, err := w.clientOf(w.as(mallory), o).Update(s.Context(), forged.Unstructured, metav1.UpdateOptions{}, "status")
			s.must(err)
			deletes(mallory, owner)
			s.awaitGone(o)
		},
		"somebody who acts as the collector's account": func(ns string) {
			o := victim(s.create(configMap(ns, "victim")))
			deletes(collectorAccount, o)
		},
		"the audit ID of a request of hers": func(ns string) {
			o := victim(s.create(configMap(ns, "victim", heldBy("example.com/hold"))))
			const id = "0d0d0d0d-0000-4000-8000-000000000001"
			_ = w.raw(ines).Get().AbsPath(w.url(o)).SetHeader("Audit-ID", id).Do(s.Context()).Error()
			patches(ines, o, `{"metadata":{"labels":{"touched":"yes"}}}`)
			s.must(w.raw(mallory).Delete().AbsPath(w.url(o)).SetHeader("Audit-ID", id).Do(s.Context()).Error())
			patches(ines, s.live(o), `{"metadata":{"finalizers":null}}`)
			s.awaitGone(o)
		},
		"the user agent of a controller": func(ns string) {
			of := goneOwner(ns)
			o := victim(s.create(configMap(ns, "victim")))
			s.must(w.raw(mallory, func(c *rest.Config) {
				c.UserAgent = "kube-controller-manager/v1.37.2 (linux/amd64) kubernetes/1a2b3c4/" + collectorAccount
			}).
				Delete().AbsPath(w.url(o)).Do(s.Context()).Error())
			_ = of
		},
		"a deletion of hers with another UID in its preconditions": func(ns string) {
			o := victim(s.create(configMap(ns, "victim")))
			other := types.UID("00000000-0000-4000-8000-000000000000")
			_ = w.clientOf(w.as(ines), o).Delete(s.Context(), o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
			deletes(mallory, o)
		},
		"an eviction of hers that is a dry run": func(ns string) {
			o := victim(s.create(pod(ns, "victim")))
			eviction := newObject("policy/v1", "Eviction", ns, "victim", withField("deleteOptions", map[string]any{"dryRun": []any{"All"}}))
			_, err := w.clientOf(w.as(ines), o).Create(s.Context(), eviction.Unstructured, metav1.CreateOptions{}, "eviction")
			s.must(err)
			deletes(mallory, o)
			s.awaitGone(o)
		},
		"a deletion of which the client does not await the answer": func(ns string) {
			o := victim(s.create(configMap(ns, "victim")))
			ctx, cancel := context.WithTimeout(s.Context(), 2*time.Millisecond)
			defer cancel()
			_ = w.raw(mallory).Delete().AbsPath(w.url(o)).Param("timeout", "1ms").Do(ctx).Error()
			err := w.clientOf(w.as("later@example.com"), o).Delete(s.Context(), o.GetName(), metav1.DeleteOptions{})
			t.Logf("the deletion with a timeout of 1 ms; one later: %v", err)
			s.awaitGone(o)
		},
	} {
		ns := s.namespace("blame")
		t.Logf("%s: %s", ns, name)
		attack(ns)
	}
	s.must(wait.PollUntilContextTimeout(s.Context(), time.Second, time.Minute, true, func(context.Context) (bool, error) {
		return time.Since(w.last) > 3*time.Second, nil
	}))
	for what, report := range map[string]*trace.DeletionReport{"the log": w.report(log), "the log read twice": w.report(log, log)} {
		for i := range report.Cascades {
			c := &report.Cascades[i]
			for j := range c.Deletions {
				d := &c.Deletions[j]
				for _, o := range victims {
					if d.Object.Namespace != o.GetNamespace() || d.Object.Name != o.GetName() {
						continue
					}
					t.Logf("%s: %s in %s: by %q, unexplained %v, perhaps %v: %s", what, d.Object.Name, d.Object.Namespace, c.By, c.Unexplained, d.Perhaps, c.Root.Message())
					if actingAs(c.By) == ines && !c.Unexplained && !d.Perhaps || c.By.Role == trace.RoleCollector && c.By.As != "" {
						t.Errorf("%s blames %s for %s in %s", what, c.By, d.Object.Name, d.Object.Namespace)
					}
				}
			}
		}
	}
}
