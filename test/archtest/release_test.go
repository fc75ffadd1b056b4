package archtest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Without a toolchain line, setup-go installs the release of the go line, the oldest that can build
// the module, without the fixes of the standard library since then.
func TestEveryModuleNamesOneToolchain(t *testing.T) {
	toolchain := regexp.MustCompile(`(?m)^toolchain (go1\.\d+\.\d+)$`)
	want := toolchain.FindString(read(t, "go.mod"))
	if want == "" {
		t.Fatal("go.mod has no toolchain line")
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "go.mod" {
			if got := toolchain.FindString(read(t, strings.TrimPrefix(path, filepath.Join("..", "..")))); got != want {
				t.Errorf("%s has %q, want %q", path, got, want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestActionsAndImagesArePinned(t *testing.T) {
	workflows, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	commit := regexp.MustCompile(`@[0-9a-f]{40}$`)
	for _, file := range workflows {
		text := read(t, ".github", "workflows", filepath.Base(file))
		for _, used := range regexp.MustCompile(`(?m)uses: (\S+)`).FindAllStringSubmatch(text, -1) {
			if !commit.MatchString(used[1]) {
				t.Errorf("%s uses %s", file, used[1])
			}
		}
		if strings.HasSuffix(file, "nightly.yml") && !strings.Contains(text, "govulncheck@v") {
			t.Errorf("%s does not run govulncheck", file)
		}
	}
	for _, base := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read(t, "docs", "in-cluster", "Containerfile"), -1) {
		if base[1] != "scratch" && !regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(base[1]) {
			t.Errorf("the image is built from %s", base[1])
		}
	}
}

// The releases of Kubernetes that the tests run are in go.mod files.
func TestThePageOfVersionsNamesEveryControlPlane(t *testing.T) {
	older, err := filepath.Glob("../controlplane/versions/*.mod")
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, "docs/versions.md")
	for _, module := range append(older, "../controlplane/go.mod") {
		release := regexp.MustCompile(`k8s\.io/kubernetes v([\d.]+) `).FindStringSubmatch(read(t, "test/archtest/"+module))
		if release == nil || !strings.Contains(page, release[1]) {
			t.Errorf("docs/versions.md lacks the release of %s: %q", module, release)
		}
	}
}
