package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenFile is the file from which kube-apiserver reads the users.
const tokenFile = "tokens.csv"

// controllerManager is the user of kube-controller-manager. It has no context in the kubeconfig.
const controllerManager = "system:kube-controller-manager"

// user is a user of the API server of one run.
type user struct {
	name  string
	group string // empty, or the only group
	token string
}

// newUsers returns the users of a run: admin, who may do everything, and some who have no
// permissions until a test grants them.
func newUsers() []user {
	users := []user{
		{name: "admin", group: "system:masters"},
		// This user acts for all controllers, which usually have a role each.
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
