package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestWhereARightIsLackingNothingIsSent(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lacking")
	owner := s.create(secret(ns, "owner"))
	orphan := s.create(secret(ns, "orphan", ownedBy(lost())))
	shared := s.create(configMap(ns, "shared", ownedBy(to(owner), lost())))
	user := s.entitled("", []string{"get", "list", "delete"})
	f := s.throughProxy(nil).acting()
	backups := t.TempDir()
	const word = "you may not patch configmaps in namespace "
	r := f.gc("collect", "-n", ns, "--yes", "--backup-dir", backups, "--as", user).exits(t, 1).
		warns(t, "warning: "+word+ns+", which is needed for ConfigMap/shared", "error: the API server would not permit part of this plan: nothing was changed", "docs/rbac.md").
		shows(t, "ConfigMap/shared", "not sent: "+word, "Secret/orphan", "not sent, because another step would be refused", "nothing was changed in ", "1 skipped, 1 failed")
	if writes := f.wrote(); len(writes) > 0 {
		t.Errorf("it sends %s %s all the same", writes[0].Method, writes[0].Path)
	}
	// Four rights in the whole cluster, of which one is asked for again in the namespace, and by name.
	if asked := f.asked(reviewing); len(asked) != 4+1+1 {
		t.Errorf("it takes %d questions: %s", len(asked), r.Stderr)
	}
	if len(s.savedIn(backups)) > 0 {
		t.Error("it leaves a backup of what it has not touched")
	}
	s.untouched(orphan, shared)

	t.Run("nobody is asked to confirm what would be refused", func(t *testing.T) {
		s := s.under(t)
		s.gc("collect", "-n", ns, "--as", user).exits(t, 1).warns(t, word)
		s.untouched(orphan, shared)
	})
	t.Run("a preview says so, and stays a plan", func(t *testing.T) {
		s := s.under(t)
		p := decode[planned](t, s.gc("collect", "-n", ns, "--dry-run", "-o", "json", "--as", user).exits(t, 0).warns(t, word, "a run would be refused"))
		if len(p.Steps) != 2 {
			t.Errorf("%+v", p.Steps)
		}
	})
	t.Run("what is lacking may not be needed", func(t *testing.T) {
		s := s.under(t)
		r := s.gc("delete", "--client-side", "secret/orphan", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 0)
		if strings.Contains(r.Stderr, "you may not") {
			t.Errorf("it warns of nothing: %s", r.Stderr)
		}
		s.goes(orphan)
	})
}

func TestARightToSomeNamesIsOneToThese(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("names")
	mine, other := s.create(configMap(ns, "mine")), s.create(configMap(ns, "other"))
	user := s.entitled("", []string{"get", "list"})
	s.create(role(ns, user, with("rules", []any{map[string]any{
		"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"delete"}, "resourceNames": []any{"mine"},
	}})))
	s.create(of("rbac.authorization.k8s.io/v1", "RoleBinding", ns, user,
		with("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}),
		with("subjects", []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}})))
	s.await("the right to one name", func(ctx context.Context) (bool, error) {
		r := s.gc("delete", "configmap/mine", "-n", ns, "--dry-run", "--as", user)
		return !strings.Contains(r.Stderr, "you may not"), nil
	})
	s.gc("delete", "configmap/mine", "configmap/other", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 1).
		warns(t, "you may not delete configmaps in namespace "+ns+", which is needed for ConfigMap/other\n")
	s.untouched(mine, other)
	s.gc("delete", "configmap/mine", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 0)
	s.goes(mine)
}

// A server may not know the question, or not the answer.
func TestWhatNobodyCanTellIsLeftToTheRun(t *testing.T) {
	undecided := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":false,"evaluationError":"no answer from the webhook"}}`))
	}
	for name, broken := range map[string]fault{
		"no such question":       {reviewing, notAPath},
		"an answer that is none": {reviewing, says(500, "InternalError", "etcd is on fire")},
		"no decision":            {reviewing, undecided},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("untold")
			orphan := s.create(configMap(ns, "orphan", ownedBy(lost())))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{broken} }).acting()
			reader := s.entitled("", []string{"get", "list"})
			f.gc("collect", "-n", ns, "--yes", "--no-backup", "--as", reader).exits(t, 1).
				warns(t, "warning: could not check all permissions before the run: delete configmaps in namespace "+ns).
				shows(t, `cannot delete resource "configmaps"`)
			s.untouched(orphan)
			f.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "deleted 1 in ")
			s.goes(orphan)
		})
	}
}

// A server that is there is not said to be silent.
func TestAUserWhoMayNotEvenAskIsToldSo(t *testing.T) {
	s := newScene(t)
	for _, command := range []string{"audit", "collect"} {
		s.gc(command, "--as", "system:anonymous").exits(t, 2).
			warns(t, "error: the server at https://", " does not tell you what it serves: ", "forbidden", "hint: log in, ", "system:discovery")
	}
}

// The first of them tells nothing of the second.
func TestARightToSomeClusterScopedNamesIsOneToThese(t *testing.T) {
	s := newScene(t)
	s.custom()
	mine, other := s.create(gadget("e2e-mine")), s.create(gadget("e2e-other"))
	user := s.entitled("", []string{"get", "list"})
	s.create(of("rbac.authorization.k8s.io/v1", "ClusterRole", "", user+"-names", with("rules", []any{map[string]any{
		"apiGroups": []any{customGroup}, "resources": []any{"gadgets"}, "verbs": []any{"delete"}, "resourceNames": []any{"e2e-mine"},
	}})))
	s.create(of("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", user+"-names",
		with("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user + "-names"}),
		with("subjects", []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}})))
	s.await("the right to one name", func(context.Context) (bool, error) {
		r := s.gc("delete", "gadget/e2e-mine", "--dry-run", "--as", user)
		return !strings.Contains(r.Stderr, "you may not"), nil
	})
	s.gc("delete", "gadget/e2e-mine", "gadget/e2e-other", "--yes", "--no-backup", "--as", user).exits(t, 1).
		warns(t, "you may not delete gadgets."+customGroup+", which is needed for Gadget/e2e-other\n")
	s.untouched(mine, other)
	s.gc("delete", "gadget/e2e-mine", "--yes", "--no-backup", "--as", user).exits(t, 0)
	s.goes(mine)
}

// What is cluster-scoped has no rules of a namespace.
func TestARightToWhatIsClusterScopedIsAskedForToo(t *testing.T) {
	s := newScene(t)
	s.custom()
	ns := s.namespace("scoped")
	global := s.create(gadget("e2e-limited"))
	user := s.entitled("", []string{"get", "list"})
	s.gc("delete", "gadget/e2e-limited", "--yes", "--no-backup", "--as", user).exits(t, 1).
		warns(t, "you may not delete gadgets."+customGroup+", which is needed for Gadget/e2e-limited")
	s.untouched(global)
	// A request about a namespace is one in that namespace.
	local := s.entitled("", []string{"get", "list"})
	s.grant(local, ns, []any{"*"}, []any{"*"}, []any{"delete"})
	for _, how := range []string{"--dry-run", "--dry-run=server"} {
		r := s.gc("delete", "namespace/"+ns, how, "--as", local).exits(t, 0)
		if strings.Contains(r.Stderr, "you may not") {
			t.Errorf("it may: %s", r.Stderr)
		}
	}
}
