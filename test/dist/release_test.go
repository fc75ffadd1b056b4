package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// built are sums as if every archive had been built.
func built(r rendering) map[string]string {
	sums := map[string]string{}
	for i, p := range platforms {
		sums[p.archive(r.file, r.version)] = strings.Repeat(string(rune('a'+i)), 64)
	}
	return sums
}

// rendered is the template as it is, or with something in it replaced.
func rendered(t *testing.T, r rendering, replace ...string) ([]byte, error) {
	t.Helper()
	out, err := r.render(strings.NewReplacer(replace...).Replace(read(t, ".krew.yaml")), built(r))
	if err != nil {
		return nil, err
	}
	return out, check(out, r)
}

// TestTheManifestHereIsThatOfTheTemplate knows no better sums than those of the manifest:
// they are of another commit. Everything else has to be what the template says today.
func TestTheManifestHereIsThatOfTheTemplate(t *testing.T) {
	have := read(t, "plugins/gc.yaml")
	var m manifest
	if err := yaml.Unmarshal([]byte(have), &m); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, p := range m.Spec.Platforms {
		sums[p.URI[strings.LastIndexByte(p.URI, '/')+1:]] = p.SHA256
	}
	r := rendering{name: "gc", file: "kubectl-gc", version: m.Spec.Version}
	want, err := r.render(read(t, ".krew.yaml"), sums)
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, _ := strings.Cut(have, "\napiVersion:"); "apiVersion:"+rest != string(want) {
		t.Errorf("plugins/gc.yaml is not what .krew.yaml renders to: make krew-manifest; want\n%s", want)
	}
}

func TestTheManifestGoesByTheNameOfThePlugin(t *testing.T) {
	r := rendering{name: "owner-gc", file: "kubectl-owner_gc", version: "v1.2.3"}
	got, err := rendered(t, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  name: owner-gc",
		"    bin: kubectl-owner_gc",
		"    bin: kubectl-owner_gc.exe",
		"    uri: https://github.com/kubectl-gc/kubectl-gc/releases/download/v1.2.3/kubectl-owner_gc_v1.2.3_windows_arm64.zip",
		"      kubectl owner-gc completion --install-shim ~/.local/bin",
	} {
		if !strings.Contains(string(got), "\n"+line+"\n") {
			t.Errorf("it lacks the line %q:\n%s", line, got)
		}
	}
	if strings.Contains(string(got), "kubectl gc") {
		t.Errorf("it says kubectl gc:\n%s", got)
	}
}

func TestAManifestWithAMistakeIsRefused(t *testing.T) {
	r := rendering{name: "gc", file: "kubectl-gc", version: "v1.2.3"}
	if _, err := rendered(t, r); err != nil {
		t.Fatalf("the template as it is: %v", err)
	}
	for name, c := range map[string]struct{ is, instead, want string }{
		"a platform twice":             {"os: darwin\n        arch: arm64", "os: darwin\n        arch: amd64", "it is for"},
		"another platform's archive":   {"_linux_arm64.tar.gz", "_linux_amd64.tar.gz", "linux/arm64 is to fetch"},
		"a program without its ending": {"{{ $file }}.exe", "{{ $file }}", "windows/amd64 is to run"},
		"a word that says nothing":     {"See what", "A kubectl plugin to see what", "every entry of the list could"},
		"a long short description":     {"and what it will do", strings.Repeat("and what it will do", 3), "is no line of 60 characters"},
		"an archive nobody builds":     {"_linux_arm64.tar.gz", "_plan9_arm64.tar.gz", "is not built"},
		"no name":                      {`$name := "gc"`, `$name := .TagName`, "want one"},
		"another version":              {"version: {{ .TagName }}", "version: v9.9.9", "it is of gc v9.9.9"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := rendered(t, r, c.is, c.instead); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestGoreleaserBuildsTheSamePlatforms is the part of make release-check that takes no time.
func TestGoreleaserBuildsTheSamePlatforms(t *testing.T) {
	var c struct {
		Builds []struct{ GOOS, GOARCH, Ignore []string }
	}
	text := read(t, ".goreleaser.yaml")
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 1 || len(c.Builds[0].Ignore) > 0 {
		t.Fatalf("%d builds, or some that are left out: %+v", len(c.Builds), c.Builds)
	}
	var have []platform
	for _, system := range c.Builds[0].GOOS {
		for _, arch := range c.Builds[0].GOARCH {
			have = append(have, platform{system, arch})
		}
	}
	if !slices.Equal(have, platforms) {
		t.Errorf("it builds for %v, want %v", have, platforms)
	}
	// What it takes from the environment, the Makefile gives.
	_, given, _ := strings.Cut(read(t, "Makefile"), "\nRELEASE = ")
	given, _, _ = strings.Cut(given, "\n")
	for _, m := range regexp.MustCompile(`\.Env\.(\w+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(" "+given, " "+m[1]+"=") {
			t.Errorf("the Makefile does not give it %s: %s", m[1], given)
		}
	}
}

// TestTheNameIsTheSameEverywhere compares the places at which it can be changed.
func TestTheNameIsTheSameEverywhere(t *testing.T) {
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
