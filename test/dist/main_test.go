package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// manifest is the part of a krew manifest that krew's own validator, in test/krew, cannot check.
type manifest struct {
	Spec struct {
		Version   string
		Platforms []struct {
			Selector         struct{ MatchLabels struct{ OS, Arch string } }
			URI, SHA256, Bin string
		}
	}
}

func parse(t *testing.T, text string) (m manifest) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifestHasEveryArchiveThatGoreleaserBuilds(t *testing.T) {
	var built struct {
		Builds []struct{ GOOS, GOARCH []string }
	}
	if err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &built); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"gc": "kubectl-gc", "owner-gc": "kubectl-owner_gc"} {
		var want, got []string
		for _, system := range built.Builds[0].GOOS {
			for _, arch := range built.Builds[0].GOARCH {
				archive, program := fmt.Sprintf("%s_v1.2.3_%s_%s.tar.gz", file, system, arch), file
				if system == "windows" {
					archive, program = strings.Replace(archive, ".tar.gz", ".zip", 1), file+".exe"
				}
				want = append(want, fmt.Sprintln(system, arch, archive, "sum of "+archive, program))
			}
		}
		text, err := render(read(t, ".krew.yaml"), name, "v1.2.3", func(archive string) (string, error) { return "sum of " + archive, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parse(t, string(text)).Spec.Platforms {
			labels := p.Selector.MatchLabels
			got = append(got, fmt.Sprintln(labels.OS, labels.Arch, path.Base(p.URI), p.SHA256, p.Bin))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: built (-) and installed (+):\n%s", name, diff)
		}
	}
}

// Version and checksums are ignored, because those of the file belong to another commit.
func TestCommittedManifestMatchesTemplate(t *testing.T) {
	have := read(t, "plugins/gc.yaml")
	spec, sums := parse(t, have).Spec, map[string]string{}
	for _, p := range spec.Platforms {
		sums[path.Base(p.URI)] = p.SHA256
	}
	want, err := render(read(t, ".krew.yaml"), "gc", spec.Version, func(archive string) (string, error) { return sums[archive], nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, _ := strings.Cut(have, "\napiVersion:"); "apiVersion:"+rest != string(want) {
		t.Errorf("plugins/gc.yaml is not what .krew.yaml renders to: make krew-manifest; want\n%s", want)
	}
}

func TestPluginNameIsTheSameEverywhere(t *testing.T) {
	for file, line := range map[string]string{
		"Makefile":             `NAME\s+\?= (\S+)`,
		".krew.yaml":           `\$name := "([^"]+)"`,
		"pkg/plugin/plugin.go": `var name = "([^"]+)"`,
	} {
		if m := regexp.MustCompile(line).FindStringSubmatch(read(t, file)); m == nil || m[1] != "gc" {
			t.Errorf("%s: the name is %q, want gc", file, m)
		}
	}
}
