package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// configuration is the part of .goreleaser.yaml that other files depend on.
type configuration struct {
	Builds []struct {
		Main                             string
		GOOS, GOARCH, Ignore, Env, Flags []string
	}
}

func goreleaser(t *testing.T) configuration {
	t.Helper()
	var c configuration
	if err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 1 || len(c.Builds[0].Ignore) > 0 {
		t.Fatalf("want one build, and no platform left out: %+v", c.Builds)
	}
	return c
}

// krewManifest is the part of a krew manifest that krew's own validator, in test/krew,
// cannot check.
type krewManifest struct {
	Metadata struct{ Name string }
	Spec     struct {
		Version, ShortDescription string
		Platforms                 []struct {
			Selector         struct{ MatchLabels struct{ OS, Arch string } }
			URI, SHA256, Bin string
		}
	}
}

// rendered renders the template. The checksum of an archive is its name in capitals.
func rendered(t *testing.T, m manifest) (string, krewManifest) {
	t.Helper()
	text, err := m.render(read(t, ".krew.yaml"), func(archive string) (string, error) {
		return strings.ToUpper(archive), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var parsed krewManifest
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	return string(text), parsed
}

var names = []manifest{
	{name: "gc", file: "kubectl-gc", version: "v1.2.3"},
	{name: "owner-gc", file: "kubectl-owner_gc", version: "v1.2.3"},
}

func TestManifestMatchesGoreleaser(t *testing.T) {
	build := goreleaser(t).Builds[0]
	for _, m := range names {
		t.Run(m.name, func(t *testing.T) {
			var want []string
			for _, system := range build.GOOS {
				for _, arch := range build.GOARCH {
					program, format := m.file, "tar.gz"
					if system == "windows" {
						program, format = m.file+".exe", "zip"
					}
					archive := fmt.Sprintf("%s_%s_%s_%s.%s", m.file, m.version, system, arch, format)
					want = append(want, fmt.Sprintln(system, arch, archive, strings.ToUpper(archive), program))
				}
			}
			_, parsed := rendered(t, m)
			var got []string
			for _, p := range parsed.Spec.Platforms {
				labels := p.Selector.MatchLabels
				got = append(got, fmt.Sprintln(labels.OS, labels.Arch, path.Base(p.URI), p.SHA256, p.Bin))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("built (-) and installed (+):\n%s", diff)
			}
			if parsed.Metadata.Name != m.name || parsed.Spec.Version != m.version {
				t.Errorf("it is for %s %s, want %s %s", parsed.Metadata.Name, parsed.Spec.Version, m.name, m.version)
			}
		})
	}
}

func TestManifestUsesPluginName(t *testing.T) {
	text, _ := rendered(t, names[1])
	for _, line := range []string{
		"    uri: https://github.com/kubectl-gc/kubectl-gc/releases/download/v1.2.3/kubectl-owner_gc_v1.2.3_windows_arm64.zip",
		"      kubectl owner-gc completion --install-shim ~/.local/bin",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("it lacks the line %q:\n%s", line, text)
		}
	}
	if strings.Contains(text, "kubectl gc") {
		t.Errorf("it says kubectl gc:\n%s", text)
	}
}

// The maintainers of krew's index ask authors to leave out words that fit every plugin.
func TestShortDescriptionFitsKrewSearch(t *testing.T) {
	_, parsed := rendered(t, names[0])
	short := parsed.Spec.ShortDescription
	if len(short) > 60 || strings.ContainsAny(short, "\r\n") {
		t.Errorf("%q is not one line of at most 60 characters", short)
	}
	generic := regexp.MustCompile(`(?i)\b(kubectl|kubernetes|k8s|krew|plugins?|tool|utility|cli|command)\b`)
	if word := generic.FindString(short); word != "" {
		t.Errorf("%q contains the word %q", short, word)
	}
}

func TestManifestNeedsEveryArchive(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "gc.yaml")
	args := []string{"manifest", "-version", "v1.2.3", "-template", filepath.Join(top, ".krew.yaml"), "-from", folder, "-o", out}
	if err := run(args); err == nil || !strings.Contains(err.Error(), "kubectl-gc_v1.2.3_linux_amd64.tar.gz") {
		t.Errorf("got %v, want an error that names the missing archive", err)
	}
	if err := run(append(args, "-partial")); err != nil {
		t.Errorf("with -partial: %v", err)
	}
}

// Version and checksums are ignored, because those of the file belong to another commit.
func TestCommittedManifestMatchesTemplate(t *testing.T) {
	have := read(t, "plugins/gc.yaml")
	var parsed krewManifest
	if err := yaml.Unmarshal([]byte(have), &parsed); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, p := range parsed.Spec.Platforms {
		sums[path.Base(p.URI)] = p.SHA256
	}
	m := manifest{name: "gc", file: "kubectl-gc", version: parsed.Spec.Version}
	want, err := m.render(read(t, ".krew.yaml"), func(archive string) (string, error) { return sums[archive], nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, _ := strings.Cut(have, "\napiVersion:"); "apiVersion:"+rest != string(want) {
		t.Errorf("plugins/gc.yaml is not what .krew.yaml renders to: make krew-manifest; want\n%s", want)
	}
}

func TestMakefileSetsGoreleaserEnvironment(t *testing.T) {
	_, given, _ := strings.Cut(read(t, "Makefile"), "\nRELEASE = ")
	given, _, _ = strings.Cut(given, "\n")
	for _, m := range regexp.MustCompile(`\.Env\.(\w+)`).FindAllStringSubmatch(read(t, ".goreleaser.yaml"), -1) {
		if !slices.ContainsFunc(strings.Fields(given), func(word string) bool { return strings.HasPrefix(word, m[1]+"=") }) {
			t.Errorf("the Makefile does not set %s: %s", m[1], given)
		}
	}
}

// The name is written in several files, and must be the same in all of them.
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

func TestCheckVersion(t *testing.T) {
	for version, valid := range map[string]bool{
		"v1.2.3": true, "v0.0.0-g1a2b3c4-dirty": true, "v1.2.3-rc.1": true, "v0.1.0-3-g1a2b3c4": true,
		"": false, "1.2.3": false, "v1.2": false, "v01.2.3": false, "v1.2.3+x": false, "v1.2.3_4": false, "1a2b3c4": false,
	} {
		if err := checkVersion(version); (err == nil) != valid {
			t.Errorf("%q: %v", version, err)
		}
	}
}
