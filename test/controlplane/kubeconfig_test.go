package main

import (
	"encoding/json"
	"testing"
)

func TestKubeconfig(t *testing.T) {
	users := []user{{name: "admin", token: "a"}, {name: "alice", token: "b"}}
	mark := proof{Marker: "/run/marker.json", ID: "id"}
	got, err := json.Marshal(newKubeconfig("https://127.0.0.1:1", []byte("CA"), users, mark))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"v1","kind":"Config","current-context":"admin@kubectl-gc-test",` +
		`"clusters":[{"name":"kubectl-gc-test","cluster":{"server":"https://127.0.0.1:1","certificate-authority-data":"Q0E="}}],` +
		`"contexts":[{"name":"admin@kubectl-gc-test","context":{"cluster":"kubectl-gc-test","user":"admin"}},` +
		`{"name":"alice@kubectl-gc-test","context":{"cluster":"kubectl-gc-test","user":"alice"}}],` +
		`"users":[{"name":"admin","user":{"token":"a"}},{"name":"alice","user":{"token":"b"}}],` +
		`"extensions":[{"name":"kubectl-gc-test","extension":{"marker":"/run/marker.json","id":"id"}}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUsersHaveDifferentTokens(t *testing.T) {
	seen := map[string]string{}
	for _, u := range append(newUsers(), newUsers()...) {
		if other, ok := seen[u.token]; ok {
			t.Errorf("%s has the token of %s", u.name, other)
		}
		seen[u.token] = u.name
	}
}
