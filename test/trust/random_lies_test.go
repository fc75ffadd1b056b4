package trust

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestRandomLies runs commands under one to three random lies. Whatever the server answers, nothing
// that has a living owner is deleted unless it was requested, what is deleted is backed up, no
// orphan refers to an owner whose finalizer was removed, and a run that exits with 0 has done all
// that it planned. SEEDS is the number of runs, SEED the first one.
//
// No client could detect these lies, so they are not told: the exact 404 of an API server about an
// object that exists; one false UID, or one list without objects to which no others refer, in all
// answers; a metadata list of another type; other contents of a whole object; and a built-in type
// that discovery lacks from the first request on, though an APIService announces its group.
func TestRandomLies(t *testing.T) {
	t.Parallel()
	forSeeds(t, 20, func(t *testing.T, seed uint64) {
		r := newRandomRun(t, seed)
		var lies []string
		for range 1 + r.random.IntN(3) {
			lies = append(lies, tellRandomLie(r.server, r.random, r.truth))
		}
		r.run(0, 1, 2, 3, 4)
		t.Logf("%s: lies: %s", r.command, strings.Join(lies, "; "))
	})
}

// forSeeds runs a test with a number of seeds, or those that the environment asks for.
func forSeeds(t *testing.T, usual int, test func(t *testing.T, seed uint64)) {
	first, seeds := 1, usual
	_, _ = fmt.Sscan(os.Getenv("SEED"), &first) // keeps the default if it is not set
	_, _ = fmt.Sscan(os.Getenv("SEEDS"), &seeds)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprintf("SEED=%d", seed), func(t *testing.T) {
			t.Parallel()
			test(t, uint64(seed))
		})
	}
}

// randomRun is a command to run on a random scene.
type randomRun struct {
	*user
	random  *rand.Rand
	server  *Server
	truth   *truth
	command []string
}

func newRandomRun(t *testing.T, seed uint64) *randomRun {
	random := rand.New(rand.NewPCG(seed, 0))
	s, truth := NewServer(t), &truth{}
	web := addRandomScene(s, random)
	u := newUser(t, s)
	u.always = []string{"-o=json", "--timeout=4s", "--request-timeout=5s", "--chunk-size=" + strconv.Itoa(2+random.IntN(4))}
	command := []string{"delete", "deployment/web", "-n=shop", "--client-side", "--yes"}
	if n := random.IntN(8); n < 6 {
		command = []string{[]string{"collect", "collect", "collect", "collect", "repair", "restore"}[n], "--yes"}
	}
	switch command[0] {
	case "restore":
		command = append(command, u.runs("collect", "--yes").read().Backup)
	case "delete":
		truth.requested = web.UID
	}
	truth.before = s.Objects()
	return &randomRun{u, random, s, truth, command}
}

// run runs the command, which must exit with one of these codes, and judges what it did. The server is honest afterwards.
func (r *randomRun) run(codes ...int) {
	r.Helper()
	s, truth, command := r.server, r.truth, r.command
	run := r.runs(command...).exits(codes...)
	s.StopLying()
	r.Logf("%s: exit %d", command, run.code)
	backup, after := r.backedUp(), s.Objects()
	for _, was := range truth.before {
		if now := s.Now(&was); was.DeletionTimestamp != nil || now != nil && now.DeletionTimestamp == nil {
			continue
		}
		if !truth.mayGo(&was) || command[0] == "repair" || command[0] == "restore" {
			r.Errorf("%s was deleted", was.Path())
		}
		if !strings.Contains(backup, string(was.UID)) {
			r.Errorf("%s was deleted, and is in no backup", was.Path())
		}
	}
	for _, o := range after {
		for _, owner := range truth.ownersOf(&o) {
			if slices.Contains(owner.Finalizers, orphan) && s.Now(owner) == nil {
				r.Errorf("%s refers to %s, whose finalizer was removed", o.Path(), owner.Path())
			}
		}
	}
	if run.code != 0 {
		return
	}
	for _, step := range run.read().Steps {
		is := slices.ContainsFunc(after, func(o Object) bool {
			return o.Type.Kind == step.Object.Kind && o.Namespace == step.Object.Namespace && o.Name == step.Object.Name
		})
		if step.Action == "delete" && is || step.Action == "create" && !is {
			r.Errorf("it exits with 0, and did not do this: %+v", step)
		}
	}
}

// addRandomScene adds living owners with dependents, garbage, owners that wait for a collector, and
// a Namespace that is garbage. It returns an owner that a command may delete.
func addRandomScene(s *Server, random *rand.Rand) (web *Object) {
	s.Add(Widgets.Definition())
	some := func(prefix string, owners ...metav1.OwnerReference) (last *Object) {
		for i := range 1 + random.IntN(14) {
			of := []*Type{Secrets, ConfigMaps, Pods, Widgets, ReplicaSets}[random.IntN(5)]
			last = s.Add(ownedBy(of.Object("shop", fmt.Sprint(prefix, i)), owners...))
		}
		return last
	}
	web = s.Add(Deployments.Object("shop", "web"))
	some("leaf-", referenceTo(some("web-", referenceTo(web))))
	some("repairable-", referenceTo(some("config-")), missingOwner(Deployments))
	some("cascade-", referenceTo(some("garbage-", missingOwner(Widgets))))
	some("orphan-", referenceTo(s.Add(orphaning(Widgets.Object("shop", "an-owner")))))
	waiting := terminating(Deployments.Object("shop", "waiting"))
	waiting.Finalizers = []string{metav1.FinalizerDeleteDependents}
	some("waited-", referenceTo(s.Add(waiting)))
	if random.IntN(2) == 0 {
		garbageNamespace(s, 1+random.IntN(20))
	}
	return web
}

// truth is what the server had before a run, and what the run was to delete.
type truth struct {
	before    []Object
	requested types.UID
}

func (t *truth) ownersOf(o *Object) (owners []*Object) {
	for i := range t.before {
		if slices.ContainsFunc(o.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == t.before[i].UID }) {
			owners = append(owners, &t.before[i])
		}
	}
	return owners
}

// mayGo reports whether an object is requested, waits for its dependents, is in a Namespace that
// may go, or has owners that all are missing or may go.
func (t *truth) mayGo(o *Object) bool {
	return o.UID == t.requested || slices.Contains(o.Finalizers, metav1.FinalizerDeleteDependents) ||
		slices.ContainsFunc(t.before, func(n Object) bool { return n.Type == Namespaces && n.Name == o.Namespace && t.mayGo(&n) }) ||
		len(o.OwnerReferences) > 0 && !slices.ContainsFunc(t.ownersOf(o), func(owner *Object) bool { return !t.mayGo(owner) })
}

// tellRandomLie makes the server lie once, or from some request on, and returns what it chose.
func tellRandomLie(s *Server, random *rand.Rand, truth *truth) string {
	n := random.IntN(1000)
	some := truth.before[n%len(truth.before)]
	ask := func(method, form string) Match {
		return func(r *http.Request) bool {
			return r.Method == method && strings.Contains(r.Header.Get("Accept"), form) && strings.Contains(r.URL.Path, "v1/")
		}
	}
	lists, objects := ask(http.MethodGet, "as=PartialObjectMetadataList"), ask(http.MethodGet, "as=PartialObjectMetadata;")
	wholeLists := Match(Whole).And(func(r *http.Request) bool { return Listed(Secrets)(r) || Listed(Widgets)(r) })
	item := func(name string, value any) http.HandlerFunc {
		return s.EditedItems(func(items []any) []any { metadataOf(items[n%len(items)])[name] = value; return items })
	}
	owner := func(o any) bool {
		return slices.ContainsFunc(truth.before, func(dependent Object) bool {
			return slices.ContainsFunc(dependent.OwnerReferences, func(ref metav1.OwnerReference) bool { return string(ref.UID) == metadataOf(o)["uid"] })
		})
	}
	lies := []struct {
		name   string
		about  Match
		answer http.HandlerFunc
	}{
		{"a login page", ask("GET", ""), Page()},
		{"half of a body", ask("GET", ""), s.Half},
		{"an empty list", lists, s.EditedItems(func([]any) []any { return []any{} })},
		{"a list without owners", lists, s.EditedItems(func(items []any) []any { return slices.DeleteFunc(items, owner) })},
		{"an item with another UID", lists, item("uid", some.UID)},
		{"an item without a UID", lists, item("uid", nil)},
		{"a list of another kind", lists, s.Edited(func(list map[string]any) { list["kind"] = "ConfigMapList" })},
		{"a list without items", lists, s.Edited(func(list map[string]any) { delete(list, "items") })},
		{"a list without resourceVersion", lists, s.EditedMetadata("resourceVersion", nil)},
		{"a lost continue token", lists, s.EditedMetadata("continue", nil)},
		{"a whole object with another UID", wholeLists, item("uid", some.UID)},
		{"a whole list without an object", wholeLists, s.EditedItems(func(items []any) []any { return items[1:] })},
		{"an object of another name", objects, s.EditedMetadata("name", "other")},
		{"an object of another namespace", objects, s.EditedMetadata("namespace", "kube-system")},
		{"an object of another kind", objects, s.Edited(func(o map[string]any) { o["kind"] = "Table" })},
		{"a 404 of another object", objects, Refuse(apierrors.NewNotFound(some.Type.GroupResource(), "other"))},
		{"discovery without a group", Path("/apis"), s.EditedGroups(Without([]string{"apps", Widgets.Group}[n%2]))},
		{"a DELETE that is not done", ask("DELETE", ""), success},
		{"a PATCH that is not done", ask("PATCH", ""), s.Read},
		{"a POST of another object", ask("POST", ""), s.EditedMetadata("uid", some.UID)},
	}
	of, from, often := lies[random.IntN(len(lies))], int32(max(0, random.IntN(16)-8)), ""
	matches := of.about.After(from)
	if of.name == "an empty list" || random.IntN(4) == 0 {
		matches, often = matches.First(1), ", once"
	}
	if strings.Contains(of.name, "list") && random.IntN(2) == 0 {
		matches, often = matches.And(func(r *http.Request) bool { return isAbout(r, some.Type) }), often+", of "+some.Type.Resource
	}
	s.Lie(matches, of.answer)
	return fmt.Sprint(of.name, " after ", from, often)
}
