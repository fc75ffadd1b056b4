package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenFile is what kube-apiserver reads the users from.
const tokenFile = "tokens.csv"

// controllerManager is who kube-controller-manager is; it has no context in the kubeconfig.
const controllerManager = "system:kube-controller-manager"

// user may talk to the API server of one run.
type user struct {
	name  string
	group string // none, or the only one
	token string
}

// newUsers makes the users of a run: admin, who may do everything, and some who may do
// nothing until a test grants it.
func newUsers() []user {
	users := []user{
		{name: "admin", group: "system:masters"},
		// Alone it stands for all of the controllers, each of which has a role of its own.
		{name: controllerManager, group: "system:masters"},
	}
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		users = append(users, user{name: name})
	}
	for i := range users {
		users[i].token = rand.Text()
	}
	return users
}

// writeTokens writes the file in the format of --token-auth-file.
func writeTokens(dir string, users []user) error {
	var b strings.Builder
	for _, u := range users {
		fmt.Fprintf(&b, "%s,%s,%s,%q\n", u.token, u.name, u.name, u.group)
	}
	if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}
