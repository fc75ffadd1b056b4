package e2e

import (
	"encoding/base64"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// canaries are the values that may occur only in the manifests of a backup: credentials, and the
// contents of Secrets, in plain text and in base64 as the API encodes them.
var canaries = func() (out []string) {
	for _, word := range []string{canaryData, canaryString, canaryNote, canaryToken, canaryPassword} {
		out = append(out, word, base64.StdEncoding.EncodeToString([]byte(word)))
	}
	return out
}()

const (
	canaryData     = "canary-in-the-data-of-a-secret"
	canaryString   = "canary-in-its-stringData"
	canaryNote     = "canary-in-last-applied"
	canaryToken    = "canary-in-the-token"
	canaryPassword = "canary-in-the-password"
)

// leaked returns the canaries that occur in a text.
func leaked(text string) (out []string) {
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			out = append(out, canary)
		}
	}
	return out
}

func secretWithCanaries(s *scene, ns, name string, owner metav1.OwnerReference) object {
	return s.create(secret(ns, name, ownedBy(owner), labelled("app", "caged"),
		withField("data", map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(canaryData))}),
		withField("stringData", map[string]any{"user": canaryString}),
		func(o object) {
			o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"password":"` + canaryNote + `"}}`})
		}))
}

func TestSecretsOccurOnlyInBackups(t *testing.T) {
	s := newScene(t)
	f := s.throughProxy(nil).allowWrites()
	home := t.TempDir()
	f.env = append(f.env, "HOME="+home, "TMPDIR="+home, "KUBECONFIG="+kubeconfigWithPassword(f))
	run := func(ns string, args ...string) result {
		t.Helper()
		r := f.gc(append(args, "-n", ns, "-v=9")...)
		for stream, said := range map[string]string{"stdout": r.Stdout, "stderr": r.Stderr} {
			if found := leaked(said); found != nil {
				t.Errorf("kubectl gc %s shows %q on %s", r.output(), found, stream)
			}
		}
		return r
	}
	formats := []string{"yaml", "go-template={{.}}"}

	ns := s.namespace("canary")
	owner := s.create(configMap(ns, "owner"))
	secretWithCanaries(s, ns, "loses", missingOwner())
	s.setOwners(secretWithCanaries(s, ns, "keeps", referenceTo(owner)), referenceTo(owner), missingOwner())
	for command, own := range map[string][]string{
		"audit":                            {"wide", "sarif"},
		"tree":                             {"wide", "dot"},
		"why secret/loses":                 {"wide"},
		"collect --dry-run":                {"table"},
		"delete configmap/owner --dry-run": {"table"},
		"repair --dry-run":                 {"table"},
	} {
		for _, format := range append(own, formats...) {
			if r := run(ns, append(strings.Fields(command), "-o", format)...); r.Code > 1 && !strings.Contains(r.Stderr, "output format") {
				t.Errorf("kubectl gc %s exits with %d: %s", r.output(), r.Code, short(r.Stderr))
			}
		}
	}
	run(ns, "collect", "--dry-run=server").exits(t, 0)
	run(ns, "collect", "--dry-run", "--plan-out", filepath.Join(home, "plan.json")).exits(t, 0)
	run(ns, "snapshot", "-o", filepath.Join(home, "snapshot.json")).exits(t, 0)
	run(ns, "snapshot", "-o", "-").exits(t, 0)
	run(ns, "__complete", "tree", "secret/").exits(t, 0)
	run(ns, "tree", "secret/no-such").exits(t, 2)
	run(ns, "audit", "-l", "app in (").exits(t, 2)

	run(ns, "repair", "secret/keeps", "--yes", "--backup-dir", filepath.Join(home, "repaired")).exits(t, 0)
	run(ns, "collect", "--yes", "-o", "jsonl", "--backup-dir", filepath.Join(home, "collected")).exits(t, 0)
	run(ns, "delete", "secret/keeps", "--yes").exits(t, 0)
	folder := onlyFolder(t, filepath.Join(home, ".kube", "gc-backup", "front"))
	run(ns, "restore").exits(t, 0).shows(t, filepath.Base(folder))
	for _, format := range formats {
		run(ns, "restore", folder, "--dry-run", "-o", format).exits(t, 0)
	}
	run(ns, "restore", folder, "--dry-run=server").exits(t, 0)
	run(ns, "restore", folder, "--yes").exits(t, 0)

	held := 0
	s.must(filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found := leaked(string(text))
		switch {
		case d.Name() == "Secret.json":
			held += len(found)
		case found != nil:
			t.Errorf("%s holds %q", path, found)
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v (%v)", path, info.Mode(), err)
		}
		return err
	}))
	if held == 0 {
		t.Error("not even a backup holds what the Secrets did: nothing was shown")
	}
}

// kubeconfigWithPassword returns a kubeconfig for the proxy that holds a token, and a password in
// the URL.
func kubeconfigWithPassword(f *recordingProxy) string {
	f.Helper()
	path := ""
	for _, variable := range f.env { // the last value of a variable is used
		if file, ok := strings.CutPrefix(variable, "KUBECONFIG="); ok {
			path = file
		}
	}
	config, err := clientcmd.LoadFromFile(path)
	f.must(err)
	server, err := url.Parse(config.Clusters["front"].Server)
	f.must(err)
	server.User = url.UserPassword("somebody", canaryPassword)
	config.Clusters["front"].Server = server.String()
	config.AuthInfos["somebody"] = &clientcmdapi.AuthInfo{Token: canaryToken}
	config.Contexts["front"].AuthInfo = "somebody"
	out := f.writeFile("whispering", "")
	f.must(clientcmd.WriteToFile(*config, out))
	return out
}
