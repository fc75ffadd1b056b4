package testcluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
)

// Defined by test/controlplane.
const (
	clusterName = "kubectl-gc-test"
	markerFile  = "kubectl-gc-test.json"
)

// kubeconfig has all fields that test/controlplane writes.
type kubeconfig struct {
	APIVersion     string `json:"apiVersion"`
	Kind           string `json:"kind"`
	CurrentContext string `json:"current-context"`
	Clusters       []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server    string `json:"server"`
			Authority []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			Token string `json:"token"`
		} `json:"user"`
	} `json:"users"`
	Extensions []struct {
		Name      string `json:"name"`
		Extension struct {
			Marker string `json:"marker"`
			ID     string `json:"id"`
		} `json:"extension"`
	} `json:"extensions"`
}

// RequireTestCluster returns an error unless test/controlplane wrote the kubeconfig at path for a
// control plane whose folder still exists, and its only server is that one, on loopback. It
// refuses a kubeconfig that was edited, even by kubectl config.
func RequireTestCluster(path string) error {
	if err := requireTestServer(path); err != nil {
		return fmt.Errorf("refuse kubeconfig %q, it is not one of a test control plane: %w", path, err)
	}
	return nil
}

func requireTestServer(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config kubeconfig
	decoder := json.NewDecoder(bytes.NewReader(data))
	// An unknown field may select another server or another user.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the first document")
	}

	if len(config.Extensions) != 1 || config.Extensions[0].Name != clusterName {
		return errors.New("it lacks the extension " + clusterName)
	}
	server, err := markerServer(config.Extensions[0].Extension.Marker, config.Extensions[0].Extension.ID)
	if err != nil {
		return err
	}
	if err := requireLoopback(server); err != nil {
		return err
	}
	if len(config.Clusters) != 1 || config.Clusters[0].Name != clusterName || config.Clusters[0].Cluster.Server != server {
		return fmt.Errorf("it does not lead to %s alone", server)
	}
	return nil
}

// markerServer returns the server in a marker file of the run with that id.
func markerServer(path, id string) (string, error) {
	if filepath.Base(path) != markerFile || id == "" {
		return "", errors.New("it names no marker")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var marker struct {
		ID     string `json:"id"`
		Server string `json:"server"`
	}
	if err := json.Unmarshal(data, &marker); err != nil {
		return "", fmt.Errorf("decode marker: %w", err)
	}
	if marker.ID != id || marker.Server == "" {
		return "", errors.New("the marker is of another run")
	}
	return marker.Server, nil
}

func requireLoopback(server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("server %s is not https on loopback", server)
	}
	return nil
}
