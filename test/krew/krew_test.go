package krew

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestManifestIsValid(t *testing.T) {
	u := newUser(t)
	u.runs(0, "validate-krew-manifest", "-skip-install", "-manifest", filepath.Join(top, "plugins", "gc.yaml"))
}

func TestInstallRunAndRemovePlugin(t *testing.T) {
	for _, name := range []string{"gc", "owner-gc"} {
		t.Run("as kubectl "+name, func(t *testing.T) {
			u := newUser(t)
			archive, manifest := buildArchive(t, name)
			u.runs(0, "validate-krew-manifest", "-skip-install", "-manifest", manifest)
			u.requireChecksum(manifest, archive)
			installed := u.runs(0, "kubectl", "krew", "install", "--manifest="+manifest, "--archive="+archive)
			if want := "kubectl " + name + " completion --install-shim"; !strings.Contains(installed.stderr, want) {
				t.Errorf("the caveats do not say %q: %s", want, installed.stderr)
			}
			if got := u.runs(0, "kubectl", "krew", "list").stdout; !strings.Contains(got, name) {
				t.Errorf("krew does not list it: %s", got)
			}

			if got := u.runs(0, "kubectl", name, "version").stdout; !strings.Contains(got, version) {
				t.Errorf("the version is %q, want %s", got, version)
			}
			// Findings are errors, so audit exits with 1, also through kubectl.
			audit := u.runs(1, "kubectl", name, "audit", "--from", filepath.Join(top, "docs", "demo", "cluster.json"))
			if !strings.Contains(audit.stdout, "cross-namespace-owner") {
				t.Errorf("no finding: %s", audit.stdout)
			}
			if want := "kubectl " + name + " repair --dry-run"; !strings.Contains(audit.stdout+audit.stderr, want) {
				t.Errorf("the hint does not say %q: %s%s", want, audit.stdout, audit.stderr)
			}
			u.requireName(name)

			u.runs(0, "kubectl", "krew", "uninstall", name)
			u.runs(1, "kubectl", name, "version")
			if left, _ := filepath.Glob(filepath.Join(u.root, "bin", "*")); len(left) > 0 {
				t.Errorf("%v is left behind", left)
			}
		})
	}
}

// requireName checks the name of the plugin in the help of every command.
func (u user) requireName(name string) {
	u.Helper()
	commands := []string{""}
	help := u.runs(0, "kubectl", name, "--help").stdout
	_, list, _ := strings.Cut(help, "\nCommands:\n")
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) == 0 {
			break
		} else {
			commands = append(commands, fields[0])
		}
	}
	if len(commands) < 10 {
		u.Fatalf("its help names only the commands %v: %s", commands, help)
	}
	for _, command := range commands {
		help := u.runs(0, append([]string{"kubectl", name}, append(strings.Fields(command), "--help")...)...).stdout
		if want := strings.TrimSpace("Usage:\n  kubectl " + name + " " + command); !strings.Contains(help, want) {
			u.Errorf("the help of %q does not begin with %q: %s", command, want, help)
		}
		if name != "gc" && strings.Contains(help, "kubectl gc") {
			u.Errorf("the help of %q says kubectl gc: %s", command, help)
		}
	}
}

// requireChecksum requires that krew refuses an archive whose checksum differs from that in the
// manifest.
func (u user) requireChecksum(manifest, archive string) {
	u.Helper()
	data, err := os.ReadFile(archive)
	if err != nil {
		u.Fatal(err)
	}
	other := filepath.Join(u.TempDir(), filepath.Base(archive))
	if err := os.WriteFile(other, append(data, 0), 0o644); err != nil {
		u.Fatal(err)
	}
	r := u.runs(1, "kubectl", "krew", "install", "--manifest="+manifest, "--archive="+other)
	if !strings.Contains(r.stderr, "checksum does not match") {
		u.Errorf("an archive with a byte more is refused for another reason: %s", r.stderr)
	}
}

// TestEveryPlatform lets krew install the plugin from each archive of a release. The archives are
// served on loopback instead of their real URL.
func TestEveryPlatform(t *testing.T) {
	dist, rendered := os.Getenv("DIST"), os.Getenv("MANIFEST")
	if dist == "" || rendered == "" {
		t.Skip("builds for every platform: make krew-manifest runs it")
	}
	u := newUser(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	defer server.Close()
	text, err := os.ReadFile(rendered)
	if err != nil {
		t.Fatal(err)
	}
	var here strings.Builder
	for line := range strings.Lines(string(text)) {
		if before, uri, is := strings.Cut(line, "uri: "); is {
			line = before + "uri: " + server.URL + uri[strings.LastIndexByte(uri, '/'):]
		}
		here.WriteString(line)
	}
	manifest := filepath.Join(t.TempDir(), filepath.Base(rendered))
	if err := os.WriteFile(manifest, []byte(here.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	r := u.runs(0, "validate-krew-manifest", "-manifest", manifest)
	if !strings.Contains(r.stderr, "all 6 spec.platforms installed fine") {
		t.Errorf("not every platform was installed: %s", r.stderr)
	}
}
