package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// finalizerState is what a scan shows of a finalizer.
type finalizerState string

const (
	due     finalizerState = "due"     // a controller of Kubernetes may remove it at once
	used    finalizerState = "used"    // it protects the object for another one
	bound   finalizerState = "bound"   // it protects the object for one that is bound to it
	unread  finalizerState = "unread"  // it may protect the object for another one
	unknown finalizerState = "unknown" // nothing
)

// because returns what every command says about it.
func (s finalizerState) because(age string) string {
	switch {
	case s == used:
		return " uses it"
	case s == bound:
		return " is bound to it"
	case s == unread:
		return ", and may still be in use: this tool has not read what uses it"
	case s == due && age == "5s":
		return "will remove its finalizer within seconds"
	case s == due:
		return "should have removed its finalizer by now"
	}
	return ""
}

// heldObjects are terminating objects that a finalizer holds, and what the scan shows of the reason.
var heldObjects = []struct {
	finalizer string
	object    object.Object
	with      []object.Object
	state     finalizerState
}{
	{"batch.kubernetes.io/job-tracking", st.Pod("shop/held"), nil, due},
	{"kubernetes.io/pvc-protection", st.Object("v1", "PersistentVolumeClaim", "shop/held"), nil, due},
	{"kubernetes.io/pvc-protection", st.Object("v1", "PersistentVolumeClaim", "shop/held"), []object.Object{st.Pod("shop/user", st.WithClaims("held"))}, used},
	{"kubernetes.io/pvc-protection", st.Object("v1", "PersistentVolumeClaim", "shop/held"), []object.Object{st.Pod("shop/user")}, unread},
	{"kubernetes.io/pv-protection", st.Object("v1", "PersistentVolume", "held", st.WithClaims()), nil, due},
	{"kubernetes.io/pv-protection", st.Object("v1", "PersistentVolume", "held", st.WithClaims("shop/user")), []object.Object{st.Object("v1", "PersistentVolumeClaim", "shop/user")}, bound},
	{"resource.kubernetes.io/delete-protection", st.Object("resource.k8s.io/v1", "ResourceClaim", "shop/held", st.OwnedBy(st.Pod("shop/user"))), nil, due},
	{"resource.kubernetes.io/delete-protection", st.Object("resource.k8s.io/v1", "ResourceClaim", "shop/held", st.OwnedBy(st.Pod("shop/user"))), []object.Object{st.Pod("shop/user")}, used},
	{"resource.kubernetes.io/delete-protection", st.Object("resource.k8s.io/v1", "ResourceClaim", "shop/held"), []object.Object{st.Pod("shop/user")}, unread},
	{"scheduling.k8s.io/podgroup-protection", st.Object("scheduling.k8s.io/v1alpha2", "PodGroup", "shop/held"), nil, due},
	{"scheduling.k8s.io/podgroup-protection", st.Object("scheduling.k8s.io/v1alpha2", "PodGroup", "shop/held"), []object.Object{
		st.Pod("shop/user", st.OwnedBy(st.Object("scheduling.k8s.io/v1alpha2", "PodGroup", "shop/held"))),
	}, used},
	{"customresourcecleanup.apiextensions.k8s.io", st.CRD("widgets.example.com"), nil, due},
	{"service.kubernetes.io/load-balancer-cleanup", st.Object("v1", "Service", "shop/held"), nil, unknown},
	{"kubernetes.io/foregroundDeletion", st.ConfigMap("shop/held"), nil, unknown},
	{"example.com/hold", st.ConfigMap("shop/held"), nil, unknown},
}

// Every command says the same about one object that a finalizer holds, whether it is the object
// itself that somebody asks about, or one whose deletion it blocks.
func TestEveryCommandSaysTheSameAboutAFinalizer(t *testing.T) {
	verbs := []string{"delete", "get", "list", "patch", "update", "watch"}
	types := st.Serving(append(append(st.Workloads(), st.TypesWithContents()...),
		snapshot.Type{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims", Kind: "ResourceClaim", Singular: "resourceclaim", Namespaced: true, Verbs: verbs, Preferred: true},
		snapshot.Type{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups", Kind: "PodGroup", Singular: "podgroup", Namespaced: true, Verbs: verbs, Preferred: true},
	)...)
	for _, c := range heldObjects {
		for age, seconds := range map[string]int{"5s": 5, "13h": 13 * 3600} {
			for _, blocks := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, for %s, blocks %t", c.finalizer, c.state, age, blocks), func(t *testing.T) {
					held, waiting := c.object, st.Deployment("shop/waiting", st.TerminatingFor(time.Duration(seconds)*time.Second, object.ForegroundFinalizer))
					st.TerminatingFor(time.Duration(seconds)*time.Second, c.finalizer)(&held)
					objects := append([]object.Object{st.Namespace("shop")}, c.with...)
					if blocks {
						if held.Namespace == "" {
							waiting = st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "waiting", st.TerminatingFor(time.Duration(seconds)*time.Second, object.ForegroundFinalizer))
						}
						held.Owners = append(held.Owners, st.To(waiting, st.Blocking))
						objects = append(objects, waiting)
					}
					file := saved(t, st.New(types, st.Listing(append(objects, held)...)))

					because := c.state.because(age)
					says(t, "stuck", message(t, file, held.Name, "stuck"), c.finalizer, because)
					says(t, "audit", message(t, file, held.Name, "audit", "--stuck-after=1s", "--rule=stuck-finalizer"), c.finalizer, because)
					says(t, "why", message(t, file, held.Name, "why", target(held)...), c.finalizer, because)
					if !blocks {
						return
					}
					says(t, "stuck of what it blocks", message(t, file, "waiting", "stuck"), held.String(), c.finalizer, because)
					says(t, "collect of what it blocks", message(t, file, "waiting", "collect", "-A", "--dry-run"), held.String(), c.finalizer, because)
					if c.state != due || age != "5s" { // else the cluster completes it by itself
						says(t, "audit of what it blocks", message(t, file, "waiting", "audit", "--stuck-after=1s", "--rule=blocked-deletion"), held.String(), c.finalizer, because)
						says(t, "why of what it blocks", message(t, file, "waiting", "why", target(waiting)...), held.String(), c.finalizer, because)
					}
				})
			}
		}
	}
}

// An Application whose owner is of a kind that this cluster does not serve: nothing happens to it
// today, and the collector deletes it when somebody installs that kind (argoproj-labs/argocd-agent#523).
func TestArgoCDAgent523AnOwnerKindMayBeServedLater(t *testing.T) {
	set := st.To(st.Object("argoproj.io/v1alpha1", "ApplicationSet", "argocd/shop"), st.Controlling, st.Blocking)
	config := st.ConfigMap("argocd/config")
	file := saved(t, st.New(st.Listing(config,
		st.Object("example.com/v1", "Widget", "argocd/shop", st.Owned(set)),
		st.Object("example.com/v1", "Widget", "argocd/kept", st.Owned(st.To(config), set)),
		st.Object("example.com/v1", "Widget", "argocd/old", st.Owned(st.To(st.Deployment("argocd/old"), st.As("apps/v1beta1", "Deployment")))),
	)))
	for name, want := range map[string][]string{
		"shop": {"cannot resolve its reference to ApplicationSet/shop.", "if argoproj.io/v1alpha1 is ever served with kind ApplicationSet and no ApplicationSet/shop has the UID in the reference", "deletes this object within seconds"},
		"kept": {"if argoproj.io/v1alpha1 is ever served with kind ApplicationSet", "removes this reference within seconds"},
		"old":  {"if apps/v1beta1 is ever served with kind Deployment", "deletes this object"},
	} {
		text := message(t, file, name, "why", "widget/"+name, "-n", "argocd")
		says(t, "why", text, want...)
		if strings.Contains(text, "Nothing happens until") {
			t.Errorf("why %s: %q", name, text)
		}
	}
}

func says(t *testing.T, who, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q: %q", who, w, text)
		}
	}
	if last := want[len(want)-1]; last == "" && (strings.Contains(text, "its finalizer") || strings.Contains(text, "uses it")) {
		t.Errorf("%s knows more than the scan shows: %q", who, text)
	}
}

func saved(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Save(&out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// target returns the arguments that name an object.
func target(o object.Object) []string {
	out := []string{strings.ToLower(o.Kind) + "/" + o.Name}
	if o.Namespace != "" {
		out = append(out, "-n", o.Namespace)
	}
	return out
}

// message returns what a command says about the object of that name.
func message(t *testing.T, file, name, command string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	none := func() int { return 0 }
	cmd.Main(t.Context(), append(append([]string{command}, args...), "--from", file, "-o", "json"), cli.Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, OutWidth: none, ErrWidth: none, Height: none, Getenv: func(string) string { return "" }, Now: time.Now,
	})
	type said struct {
		Object            object.Identity
		Message, Headline string
		Next              []string
	}
	var document struct{ Objects, Findings, Answers, Blocked []said }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatalf("%s %q: %v: %s", command, args, err, errs.String())
	}
	for _, list := range [][]said{document.Objects, document.Findings, document.Answers, document.Blocked} {
		for _, s := range list {
			if s.Object.Name == name {
				return s.Message + s.Headline + " " + strings.Join(s.Next, " ")
			}
		}
	}
	t.Errorf("%s %q says nothing about %s: %s", command, args, name, out.String())
	return ""
}
