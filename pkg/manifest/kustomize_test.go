package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestKustomizeLimitsReads uses lower limits than the real ones.
func TestKustomizeLimitsReads(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	files := map[string]string{"0/kustomization.yaml": "resources: [a.yaml]\n", "0/a.yaml": object}
	for i := 1; i <= 30; i++ { // each refers to the one below twice
		for _, half := range []string{"l", "r"} {
			files[fmt.Sprintf("%d/%s/kustomization.yaml", i, half)] = fmt.Sprintf("namePrefix: %s\nresources: [../../%d]\n", half, i-1)
		}
		files[fmt.Sprintf("%d/kustomization.yaml", i)] = "resources: [l, r]\n"
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		bytes  int64
		files  int
		folder string
		want   string // error; empty: none
	}{
		"a billion references to folders":     {maxBytes, 200, "30", "read too many files before"},
		"the limit of bytes is reached first": {2000, maxFiles, "30", "longer than what is read"},
		"a file that is too long":             {30, maxFiles, "0", "a.yaml: with all that the kustomization reads before"},
		"a few references to folders":         {maxBytes, maxFiles, "3", ""},
		"exactly at both limits":              {int64(len("resources: [a.yaml]\n" + object)), 2, "0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			disk := &boundedDisk{FileSystem: filesys.MakeFsOnDisk(), ctx: t.Context(), bytes: c.bytes, files: c.files}
			_, err := disk.kustomize(filepath.Join(dir, c.folder))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v", err)
			}
		})
	}
}
