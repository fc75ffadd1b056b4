package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"pgregory.net/rapid"
)

// canary is the password or token in every address of these tests.
const canary = "canary-hunter2"

// refusingServer returns the host and port of a server that refuses connections.
func refusingServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return strings.TrimPrefix(server.URL, "http://")
}

// quotingServer returns the host and port of a server that fails and quotes the request.
func quotingServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("cannot serve http://%s%s (%s)", r.Host, r.URL, r.RequestURI), http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// kubeconfigOf writes a kubeconfig with one context.
func kubeconfigOf(t *testing.T, cluster clientcmdapi.Cluster, user clientcmdapi.AuthInfo) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"], config.AuthInfos["u"] = &cluster, &user
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestNoErrorContainsACredential(t *testing.T) {
	home := newHome(t)
	gone, errs := refusingServer(t), quotingServer(t)
	with := func(scheme, host string) string { return scheme + "me:" + canary + "@" + host }
	for name, args := range map[string][]string{
		"--server, which refuses connections":        {"audit", "--server", with("http://", gone)},
		"--server, which fails":                      {"audit", "--server", with("http://", errs)},
		"--server without a scheme":                  {"audit", "--server", with("", gone)},
		"--server with a token in its query":         {"audit", "--server", "http://" + gone + "?token=" + canary},
		"--server that is no URL":                    {"audit", "--server", with("http://", "%zz")},
		"--server that is no URL, with a token":      {"audit", "--server", "http://%zz?token=" + canary},
		"--server with a slash in the password":      {"audit", "--server", "http://me:7/" + canary + "@" + gone},
		"--proxy-url, which refuses connections":     {"audit", "--server", "http://example.invalid", "--proxy-url", with("http://", gone)},
		"--proxy-url, which fails":                   {"audit", "--server", "http://example.invalid", "--proxy-url", with("http://", errs)},
		"--proxy-url of socks":                       {"audit", "--server", "http://example.invalid", "--proxy-url", with("socks5://", gone)},
		"--proxy-url of another scheme":              {"audit", "--server", "http://example.invalid", "--proxy-url", with("ftp://", gone)},
		"--proxy-url without a scheme":               {"audit", "--server", "http://example.invalid", "--proxy-url", with("", gone)},
		"--proxy-url that is no URL":                 {"audit", "--server", "http://example.invalid", "--proxy-url", "http://me:" + canary + "%zz@" + gone},
		"--token that is refused":                    {"audit", "--server", "http://" + errs, "--token", canary},
		"a kubeconfig":                               {"audit", "--kubeconfig", kubeconfigOf(t, clientcmdapi.Cluster{Server: with("http://", errs)}, clientcmdapi.AuthInfo{Token: canary})},
		"a kubeconfig with a proxy":                  {"audit", "--kubeconfig", kubeconfigOf(t, clientcmdapi.Cluster{Server: "http://example.invalid", ProxyURL: with("http://", gone)}, clientcmdapi.AuthInfo{})},
		"a kubeconfig with a proxy that is no URL":   {"audit", "--kubeconfig", kubeconfigOf(t, clientcmdapi.Cluster{Server: "http://example.invalid", ProxyURL: "http://me:" + canary + " %zz@" + gone}, clientcmdapi.AuthInfo{Password: canary, Username: "me"})},
		"a restoration":                              {"restore", "somewhere", "--yes", "--server", with("http://", gone)},
		"-f, where nobody answers":                   {"delete", "-f", with("http://", gone) + "/a.yaml?token=" + canary},
		"-f, where a server fails":                   {"delete", "-f", with("http://", errs) + "/a.yaml?token=" + canary},
		"-f of another scheme":                       {"delete", "-f", with("HTTP://", errs) + "/a.yaml?token=" + canary},
		"--from, which takes no URL":                 {"audit", "--from", with("https://", gone) + "/s.json?token=" + canary},
		"BACKUP, which takes no URL":                 {"restore", with("https://", gone)},
		"a target, which takes no URL":               {"tree", with("https://", gone)},
		"a flag that takes something else":           {"audit", "--chunk-size", with("https://", gone)},
		"a command that is none":                     {with("https://", gone)},
		"several clusters":                           {"audit", "--contexts", "x", "--kubeconfig", kubeconfigOf(t, clientcmdapi.Cluster{Server: with("http://", errs)}, clientcmdapi.AuthInfo{Token: canary})},
		"several clusters, one with a bad proxy URL": {"audit", "--contexts", "x", "--kubeconfig", kubeconfigOf(t, clientcmdapi.Cluster{Server: "http://example.invalid", ProxyURL: with("ftp://", gone)}, clientcmdapi.AuthInfo{})},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, append(slices.Clone(args), "-v=9")...)
			if r.code == 0 || r.errors == "" {
				t.Errorf("it ends with %d and says %q", r.code, r.errors)
			}
			if text := r.out + r.errors; strings.Contains(text, canary) {
				t.Errorf("it shows the credential: %s", text)
			}
		})
	}
	for name, text := range files(t, home) {
		if strings.Contains(text, canary) {
			t.Errorf("%s holds the credential", name)
		}
	}
}

// Credentials are neither in suggested commands, nor in documents, nor in files.
func TestNoOutputContainsACredential(t *testing.T) {
	home := newHome(t)
	host := strings.TrimPrefix(newAPI(configMap("garbage", "u-gone"), configMap("other", "u-gone")).Listen(t), "http://")
	server := "http://me:" + canary + "@" + host
	manifest := filepath.Join(home, "web.yaml")
	if err := os.WriteFile(manifest, []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: other, namespace: shop}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serving := httptest.NewServer(http.FileServer(http.Dir(home)))
	defer serving.Close()
	from := "http://me:" + canary + "@" + strings.TrimPrefix(serving.URL, "http://") + "/web.yaml?token=" + canary
	check := func(want string, args ...string) {
		t.Helper()
		r := run(t, args...)
		if text := r.out + r.errors; strings.Contains(text, canary) || !strings.Contains(text, want) {
			t.Errorf("%q ends with %d, want %q: %s", args, r.code, want, text)
		}
	}
	backups := filepath.Join(home, "backups")
	check("Run exactly this plan: kubectl gc collect -s http://REDACTED@"+host+" --confirm ", "collect", "--dry-run", "--server", server, "-v=9")
	check("kubectl gc collect --proxy-url http://REDACTED@"+host+" -s http://"+host+" --token REDACTED --confirm ",
		"collect", "--dry-run", "--server", "http://"+host, "--token", canary, "--proxy-url", "http://me:"+canary+"@"+host)
	check(" -f 'http://REDACTED@"+strings.TrimPrefix(serving.URL, "http://")+"/web.yaml?REDACTED' -s http://REDACTED@", "delete", "--dry-run", "-f", from, "--server", server)
	check(`"digest"`, "collect", "--dry-run", "--server", server, "-o", "json")
	check(`"Snapshot"`, "snapshot", "--server", server, "-o", "-")
	check("saved ", "snapshot", "--server", server, "-o", filepath.Join(home, "snapshot.json"))
	check(`"finished"`, "collect", "--yes", "--server", server, "-o", "jsonl", "--backup-dir", backups)
	folder := onlyFolder(t, backups)
	check("restore "+folder+" -s http://REDACTED@"+host, "restore", folder, "--dry-run", "--server", server)
	check("created 2", "restore", folder, "--yes", "--server", server)
	written := files(t, home)
	if records := written[filepath.Join(folder, "records.jsonl")]; !strings.Contains(records, `"server":"http://`+host+`"`) {
		t.Errorf("the backup does not name its server: %s", records)
	}
	for name, text := range written {
		if strings.Contains(text, canary) {
			t.Errorf("%s holds the credential", name)
		}
	}
}

func TestNoSuggestedCommandContainsAPassword(t *testing.T) {
	newHome(t)
	host := strings.TrimPrefix(newAPI(configMap("garbage", "u-gone")).Listen(t), "http://")
	rapid.Check(t, func(r *rapid.T) {
		password := canary + rapid.String().Draw(r, "password") + canary
		server := "http://" + url.UserPassword(rapid.String().Draw(r, "user"), password).String() + "@" + host
		got := run(t, "collect", "--dry-run", "--server", server)
		if text := got.out + got.errors; got.code != 0 || !strings.Contains(text, "REDACTED@"+host) || strings.Contains(text, canary) {
			r.Errorf("%q: %+v", server, got)
		}
		// Not percent-encoded, it may be no URL at all.
		raw := "http://me:" + strings.Map(visible, password) + "@" + host
		for _, args := range [][]string{{"restore", raw}, {"tree", raw}, {"audit", "--from", raw}} {
			got := run(t, args...)
			if text := got.out + got.errors; strings.Contains(text, canary) {
				r.Errorf("%q: %+v", args, got)
			}
		}
	})
}

func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}
	return r
}

// onlyFolder returns the single folder in a folder.
func onlyFolder(t *testing.T, in string) string {
	t.Helper()
	found, err := os.ReadDir(in)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v in %s: %v", found, in, err)
	}
	return filepath.Join(in, found[0].Name())
}
