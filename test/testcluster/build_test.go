package testcluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRepository(t *testing.T) {
	root := t.TempDir()
	nested := filepath.Join(root, "test", "controlplane", "deep")
	if err := os.MkdirAll(nested, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := repository(nested); err == nil {
		t.Errorf("found %s where there is none", got)
	}
	for path, module := range map[string]string{
		root: modulePath,
		filepath.Join(root, "test", "controlplane"): modulePath + "/test/controlplane",
	} {
		if err := os.WriteFile(filepath.Join(path, "go.mod"), []byte("// what it is\nmodule "+module+"\n\ngo 1.26\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := repository(nested)
	if err != nil || got != root {
		t.Errorf("got %q, %v, want %q", got, err, root)
	}
}
