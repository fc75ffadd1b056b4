package trust

import (
	"net/http"
	"testing"
)

func TestBareNameOfAnObjectIsLookedUpInTheNamespace(t *testing.T) {
	s := NewServer(t)
	s.Add(Pods.Object("shop", "web-7887448d46-98gp4"))
	s.Add(Pods.Object("bank", "web-7887448d46-twtmv"))
	u := newUser(t, s)
	const name = "web-7887448d46-98gp4"
	for _, command := range [][]string{{"why", name}, {"tree", name}, {"delete", name, "--yes"}, {"repair", name, "--yes"}} {
		u.runs(append(command, "-n", "shop")...).exits(2).warns(`"` + name + `" is not a resource type, but the name of an object. Did you mean pod/` + name + "?")
		u.runs(append(command, "-n", "bank")...).exits(2).warns(`the server has no resource type "` + name + `"`)
	}
	u.runs("delete", "pod/web-7887448d46-98gp5", "-n", "shop", "--yes").exits(2).warns("does not exist. Did you mean pod/web-7887448d46-98gp4?")
	if len(s.Writes()) > 0 {
		t.Errorf("something was written: %v", s.Writes())
	}
}

// In kubectl, too, --cascade takes a value only after an equals sign.
func TestCascadeWithoutEqualsSignDeletesNothing(t *testing.T) {
	s := NewServer(t)
	s.Add(Deployments.Object("shop", "web"))
	s.Add(Deployments.Object("shop", "orphan"))
	u := newUser(t, s)
	for _, args := range [][]string{{"deployment/web"}, {"deployment", "web"}, {"deployment", "web", "--ignore-not-found"}} {
		u.runs(append([]string{"delete", "-n", "shop", "--yes", "--cascade", "orphan"}, args...)...).exits(2).warns(`unexpected argument "orphan". Did you mean --cascade=orphan?`)
	}
	if len(s.Writes()) > 0 {
		t.Errorf("something was written: %v", s.Writes())
	}
	u.runs("delete", "deployment/web", "-n", "shop", "--cascade=orphan", "--dry-run").exits(0).warns("kubectl gc delete deployment/web --cascade=orphan -n shop --confirm ")
}

func TestLoggedOutUserIsToldSo(t *testing.T) {
	s := NewServer(t)
	u := newUser(t, s)
	s.Lie(func(*http.Request) bool { return true }, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`))
	})
	for _, args := range [][]string{{"audit"}, {"collect", "--dry-run"}, {"why", "pod/web"}} {
		u.runs(args...).exits(2).warns("error: you are not logged in to http", "hint: log in as for kubectl")
	}
}
