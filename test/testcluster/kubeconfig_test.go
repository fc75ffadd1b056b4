package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTestKubeconfig writes a marker and a changed kubeconfig.
func writeTestKubeconfig(t *testing.T, server string, change func(config string) string) string {
	t.Helper()
	dir := t.TempDir()
	marker := filepath.Join(dir, markerFile)
	config := fmt.Sprintf(`{
  "apiVersion": "v1", "kind": "Config", "current-context": "admin@kubectl-gc-test",
  "clusters": [{"name": "kubectl-gc-test", "cluster": {"server": %q, "certificate-authority-data": "Q0E="}}],
  "contexts": [{"name": "admin@kubectl-gc-test", "context": {"cluster": "kubectl-gc-test", "user": "admin"}}],
  "users": [{"name": "admin", "user": {"token": "secret"}}],
  "extensions": [{"name": "kubectl-gc-test", "extension": {"marker": %q, "id": "ID"}}]
}
`, server, marker)
	path := filepath.Join(dir, "kubeconfig")
	for name, content := range map[string]string{
		marker: fmt.Sprintf(`{"id":"ID","server":%q}`, server),
		path:   change(config),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestRequireTestCluster(t *testing.T) {
	const local = "https://127.0.0.1:6443"
	replace := func(old, new string) func(string) string {
		return func(config string) string {
			if !strings.Contains(config, old) {
				t.Fatalf("nothing to replace: %s", old)
			}
			return strings.Replace(config, old, new, 1)
		}
	}
	same := func(config string) string { return config }

	if err := RequireTestCluster(writeTestKubeconfig(t, local, same)); err != nil {
		t.Errorf("refuses its own: %v", err)
	}
	for name, path := range map[string]string{
		"no path":                "",
		"no file":                filepath.Join(t.TempDir(), "kubeconfig"),
		"a kubeconfig of a user": writeTestKubeconfig(t, local, func(string) string { return "apiVersion: v1\nkind: Config\nclusters: []\n" }),
		"without extension":      writeTestKubeconfig(t, local, replace(`{"name": "kubectl-gc-test", "extension"`, `{"name": "other", "extension"`)),
		"marker elsewhere":       writeTestKubeconfig(t, local, replace(markerFile, "other.json")),
		"marker does not exist":  writeTestKubeconfig(t, local, replace(`"marker": "`, `"marker": "/does/not/exist`)),
		"marker of another run":  writeTestKubeconfig(t, local, replace(`"ID"`, `"OTHER"`)),
		"without an id":          writeTestKubeconfig(t, local, replace(`"ID"`, `""`)),
		"another port":           writeTestKubeconfig(t, local, replace("127.0.0.1:6443", "127.0.0.1:6444")),
		"another server":         writeTestKubeconfig(t, local, replace("127.0.0.1", "192.0.2.1")),
		"a second cluster":       writeTestKubeconfig(t, local, replace(`"clusters": [`, `"clusters": [{"name": "kubectl-gc-test", "cluster": {"server": "https://192.0.2.1"}}, `)),
		"a field of a cluster":   writeTestKubeconfig(t, local, replace(`"server": `, `"proxy-url": "http://192.0.2.1", "server": `)),
		"a field of a user":      writeTestKubeconfig(t, local, replace(`"token": `, `"exec": {"command": "id"}, "token": `)),
		"a second document":      writeTestKubeconfig(t, local, func(config string) string { return config + `{"kind": "Config"}` }),
		"not on loopback":        writeTestKubeconfig(t, "https://192.0.2.1:6443", same),
		"loopback by name":       writeTestKubeconfig(t, "https://localhost:6443", same),
		"not https":              writeTestKubeconfig(t, "http://127.0.0.1:6443", same),
	} {
		t.Run(name, func(t *testing.T) {
			if err := RequireTestCluster(path); err == nil {
				t.Error("it is not refused")
			}
		})
	}
}

func TestRequireTestClusterAcceptsRunningOne(t *testing.T) {
	p := sharedControlPlane(t)
	if err := RequireTestCluster(p.Kubeconfig); err != nil {
		t.Error(err)
	}
	copied := filepath.Join(t.TempDir(), "config") // as `controlplane up` makes one
	data, err := os.ReadFile(p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RequireTestCluster(copied); err != nil {
		t.Errorf("a copy: %v", err)
	}
}
