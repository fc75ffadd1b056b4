package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestMissingPermissionStopsRunBeforeFirstWrite(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lacking")
	owner := s.create(secret(ns, "owner"))
	orphan := s.create(secret(ns, "orphan", ownedBy(missingOwner())))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	user := s.userWithVerbs("", []string{"get", "list", "delete"})
	f := s.throughProxy(nil).allowWrites()
	backups := t.TempDir()
	const word = "you may not patch configmaps in namespace "
	r := f.gc("collect", "-n", ns, "--yes", "--backup-dir", backups, "--as", user).exits(t, 1).
		warns(t, "warning: "+word+ns+", which is needed for ConfigMap/shared", "error: the API server would not permit part of this plan: nothing was changed", "docs/rbac.md").
		shows(t, "ConfigMap/shared", "not sent: "+word, "Secret/orphan", "not sent, because another step would be refused", "nothing was changed in ", "1 skipped, 1 failed")
	if writes := f.recordedWrites(); len(writes) > 0 {
		t.Errorf("it sends %s %s", writes[0].Method, writes[0].Path)
	}
	// Four permissions in the whole cluster. One of them is checked again in the namespace, and
	// again by name.
	if asked := f.matching(isAccessReview); len(asked) != 4+1+1 {
		t.Errorf("it sends %d access reviews: %s", len(asked), r.Stderr)
	}
	if len(s.allBackupManifests(backups)) > 0 {
		t.Error("it leaves a backup although it has changed nothing")
	}
	s.requireUnchanged(orphan, shared)

	t.Run("a run that would be refused does not ask for confirmation", func(t *testing.T) {
		s := s.forSubtest(t)
		s.gc("collect", "-n", ns, "--as", user).exits(t, 1).warns(t, word)
		s.requireUnchanged(orphan, shared)
	})
	t.Run("a preview warns, and is complete", func(t *testing.T) {
		s := s.forSubtest(t)
		p := decode[planned](t, s.gc("collect", "-n", ns, "--dry-run", "-o", "json", "--as", user).exits(t, 0).warns(t, word, "a run would be refused"))
		if len(p.Steps) != 2 {
			t.Errorf("%+v", p.Steps)
		}
	})
	t.Run("an unneeded permission may be missing", func(t *testing.T) {
		s := s.forSubtest(t)
		r := s.gc("delete", "--client-side", "secret/orphan", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 0)
		if strings.Contains(r.Stderr, "you may not") {
			t.Errorf("it warns of nothing: %s", r.Stderr)
		}
		s.requireGone(orphan)
	})
}

func TestPermissionOnNamesIsLimitedToThem(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("names")
	mine, other := s.create(configMap(ns, "mine")), s.create(configMap(ns, "other"))
	user := s.userWithVerbs("", []string{"get", "list"})
	s.create(role(ns, user, withField("rules", []any{map[string]any{
		"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"delete"}, "resourceNames": []any{"mine"},
	}})))
	s.create(newObject("rbac.authorization.k8s.io/v1", "RoleBinding", ns, user,
		withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}),
		withField("subjects", []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}})))
	s.await("the right to one name", func(ctx context.Context) (bool, error) {
		r := s.gc("delete", "configmap/mine", "-n", ns, "--dry-run", "--as", user)
		return !strings.Contains(r.Stderr, "you may not"), nil
	})
	s.gc("delete", "configmap/mine", "configmap/other", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 1).
		warns(t, "you may not delete configmaps in namespace "+ns+", which is needed for ConfigMap/other\n")
	s.requireUnchanged(mine, other)
	s.gc("delete", "configmap/mine", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 0)
	s.requireGone(mine)
}

// An API server may not serve access reviews, or may fail to answer them.
func TestUndeterminedPermissionsDoNotStopRun(t *testing.T) {
	t.Parallel()
	undecided := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":false,"evaluationError":"no answer from the webhook"}}`))
	}
	for name, broken := range map[string]fault{
		"the server does not know access reviews": {isAccessReview, respondUnknownPath},
		"the access review is undecided":          {isAccessReview, undecided},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("untold")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{broken} }).allowWrites()
			reader := s.userWithVerbs("", []string{"get", "list"})
			f.gc("collect", "-n", ns, "--yes", "--no-backup", "--as", reader).exits(t, 1).
				warns(t, "warning: could not check all permissions before the run: delete configmaps in namespace "+ns).
				shows(t, `cannot delete resource "configmaps"`)
			s.requireUnchanged(orphan)
			f.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "deleted 1 in ")
			s.requireGone(orphan)
		})
	}
}

// A server that answers must not be called unreachable.
func TestForbiddenDiscoveryIsReported(t *testing.T) {
	s := newScene(t)
	for _, command := range []string{"audit", "collect"} {
		s.gc(command, "--as", "system:anonymous").exits(t, 2).
			warns(t, "error: the server at https://", " does not tell you what it serves: ", "forbidden", "hint: log in, ", "system:discovery")
	}
}
