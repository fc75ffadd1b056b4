package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// clusterName is the name of the cluster in every kubeconfig that this command writes, and of the
// extension that marks it.
const clusterName = "kubectl-gc-test"

// kubeconfig has the fields of a kubeconfig that this command writes. It is written as JSON,
// which is valid YAML, so that test/testcluster can read it with the standard library.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	Users          []namedUser    `json:"users"`
	Extensions     []extension    `json:"extensions"`
}

type namedCluster struct {
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
}

type cluster struct {
	Server    string `json:"server"`
	Authority []byte `json:"certificate-authority-data"`
}

type namedContext struct {
	Name    string      `json:"name"`
	Context userContext `json:"context"`
}

type userContext struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

type namedUser struct {
	Name string   `json:"name"`
	User userAuth `json:"user"`
}

type userAuth struct {
	Token string `json:"token"`
}

type extension struct {
	Name      string `json:"name"`
	Extension proof  `json:"extension"`
}

// newKubeconfig returns a kubeconfig with a context USER@kubectl-gc-test for each of the users.
// The first one's is the current context.
func newKubeconfig(server string, authority []byte, users []user, mark proof) kubeconfig {
	k := kubeconfig{
		APIVersion: "v1", Kind: "Config",
		CurrentContext: contextName(users[0]),
		Clusters:       []namedCluster{{clusterName, cluster{server, authority}}},
		Extensions:     []extension{{clusterName, mark}},
	}
	for _, u := range users {
		k.Contexts = append(k.Contexts, namedContext{contextName(u), userContext{clusterName, u.name}})
		k.Users = append(k.Users, namedUser{u.name, userAuth{u.token}})
	}
	return k
}

func contextName(u user) string { return u.name + "@" + clusterName }

// write writes a file that only its owner can read.
func (k kubeconfig) write(path string) error {
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
