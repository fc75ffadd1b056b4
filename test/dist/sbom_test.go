package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const top = "../.."

// make release-check compares whole releases. This test only compares the programs, which is
// fast.
func TestBuildIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program twice")
	}
	there := t.TempDir()
	for _, name := range []string{"cmd", "pkg"} {
		if err := os.CopyFS(filepath.Join(there, name), os.DirFS(filepath.Join(top, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(there, name), []byte(read(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "kubectl-gc")
	data, copied := compiled(t, here, program), compiled(t, there, filepath.Join(t.TempDir(), "kubectl-gc"))
	if !bytes.Equal(data, copied) {
		t.Error("the programs differ")
	}
	if bytes.Contains(data, []byte(here)) {
		t.Errorf("the program contains the name of the folder it was built in, %s", here)
	}
	t.Run("the SBOM lists the linked modules", func(t *testing.T) { listsWhatIsLinked(t, program) })
}

// compiled builds the program as goreleaser does, and returns it.
func compiled(t *testing.T, folder, program string) []byte {
	t.Helper()
	build := goreleaser(t).Builds[0]
	args := append([]string{"build", "-ldflags", "-s -w -buildid=", "-o", program}, build.Flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, build.Main)...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), build.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func listsWhatIsLinked(t *testing.T, program string) {
	out := filepath.Join(t.TempDir(), "x"+sbomSuffix)
	if err := run([]string{"sbom", "-version", "v1.2.3", "-time", "1700000000", "-o", out, program}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var sbom document
	if err := json.Unmarshal(data, &sbom); err != nil {
		t.Fatal(err)
	}
	if want := time.Unix(1700000000, 0); !sbom.CreationInfo.Created.Equal(want) {
		t.Errorf("created %s, want %s", sbom.CreationInfo.Created, want)
	}
	listed := map[string]string{}
	for _, p := range sbom.Packages[1:] {
		listed[p.Name] = p.VersionInfo
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]string{"stdlib": info.GoVersion}
	for _, m := range info.Deps {
		linked[m.Path] = m.Version
	}
	if diff := cmp.Diff(linked, listed); diff != "" {
		t.Errorf("linked (-) and listed (+):\n%s", diff)
	}
}
