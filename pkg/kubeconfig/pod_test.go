package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// fakePod sets the environment of a Pod and returns the folder that a kubelet mounts.
func fakePod(t *testing.T) (mounted string) {
	t.Helper()
	mounted = t.TempDir()
	for name, content := range map[string]string{"token": "of-the-pod", "ca.crt": "", "namespace": "monitoring\n"} {
		if err := os.WriteFile(filepath.Join(mounted, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", "POD_NAMESPACE": "",
		"KUBECONFIG": filepath.Join(mounted, "no-kubeconfig"),
	} {
		t.Setenv(name, value)
	}
	return mounted
}

func parsed(t *testing.T, mounted, line string) *Flags {
	t.Helper()
	flags, set := New("30s"), pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.mounted = mounted
	flags.AddFlags(set)
	if err := set.Parse(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestPod(t *testing.T) {
	type values struct{ Host, Token, User, Context, Namespace, Timeout string }
	pod := values{"https://10.0.0.1:443", "of-the-pod", "", "in-cluster", "monitoring", "30s"}
	for name, test := range map[string]struct {
		line string
		env  []string
		want func(*values)
	}{
		"its own cluster, as its service account": {"", nil, func(*values) {}},
		"an IPv6 address":                         {"", []string{"KUBERNETES_SERVICE_HOST", "fd00::1"}, func(a *values) { a.Host = "https://[fd00::1]:443" }},
		"the namespace of POD_NAMESPACE":          {"", []string{"POD_NAMESPACE", "env"}, func(a *values) { a.Namespace = "env" }},
		"the namespace of -n":                     {"-n flag", []string{"POD_NAMESPACE", "env"}, func(a *values) { a.Namespace = "flag" }},
		"impersonation":                           {"--as=eve", nil, func(a *values) { a.User = "eve" }},
		"another timeout":                         {"--request-timeout=5m", nil, func(a *values) { a.Timeout = "5m0s" }},
		"another token":                           {"--token=other", nil, func(a *values) { a.Token = "other" }},
	} {
		t.Run(name, func(t *testing.T) {
			mounted := fakePod(t)
			if test.env != nil {
				t.Setenv(test.env[0], test.env[1])
			}
			flags := parsed(t, mounted, test.line)
			config, err := flags.Config()
			if err != nil {
				t.Fatal(err)
			}
			got := values{Host: config.Host, Token: config.BearerToken, User: config.Impersonate.UserName, Timeout: config.Timeout.String()}
			if got.Namespace, err = flags.CurrentNamespace(); err != nil {
				t.Fatal(err)
			}
			if _, got.Context, err = flags.Contexts(); err != nil {
				t.Fatal(err)
			}
			want := pod
			test.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if config.CAFile != filepath.Join(mounted, "ca.crt") {
				t.Errorf("it trusts %q", config.CAFile)
			}
			file := filepath.Join(mounted, "token")
			if config.BearerToken != "of-the-pod" {
				file = ""
			}
			if config.BearerTokenFile != file { // client-go reads it again before the token expires
				t.Errorf("the token is read from %q", config.BearerTokenFile)
			}
		})
	}
}

func TestPodTokenIsOnlySentToItsCluster(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(kubeconfig, []byte(`{"clusters":[{"name":"c","cluster":{"server":"https://one:1"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string]string{
		"a kubeconfig names another cluster": "--kubeconfig " + kubeconfig,
		"--server names another cluster":     "--server https://two:1",
	} {
		t.Run(name, func(t *testing.T) {
			config, err := parsed(t, fakePod(t), line).Config()
			if err != nil {
				t.Fatal(err)
			}
			if config.BearerToken+config.BearerTokenFile != "" || strings.Contains(config.Host, "10.0.0.1") {
				t.Errorf("%s gets the token %q of %q", config.Host, config.BearerToken, config.BearerTokenFile)
			}
		})
	}
}

func TestPodIsOnlyUsedInAPod(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, mounted string){
		"no address": func(t *testing.T, _ string) { t.Setenv("KUBERNETES_SERVICE_HOST", "") },
		"no port":    func(t *testing.T, _ string) { t.Setenv("KUBERNETES_SERVICE_PORT", "") },
		"no token": func(t *testing.T, mounted string) {
			if err := os.Remove(filepath.Join(mounted, "token")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mounted := fakePod(t)
			change(t, mounted)
			all, current, err := parsed(t, mounted, "").Contexts()
			if err == nil || !strings.Contains(err.Error(), "there is none: ") || len(all) > 0 || current != "" {
				t.Errorf("contexts %q, in use %q, %v", all, current, err)
			}
		})
	}
}

func TestForContext(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(kubeconfig, []byte(`{
		"clusters":[{"name":"a","cluster":{"server":"https://a:1"}},{"name":"b","cluster":{"server":"https://b:1"}}],
		"contexts":[{"name":"a","context":{"cluster":"a"}},{"name":"b","context":{"cluster":"b","user":"asks"}},{"name":"nowhere","context":{"cluster":"gone"}}],"current-context":"a",
		"users":[{"name":"asks","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"asks","interactiveMode":"IfAvailable"}}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := parsed(t, "", "--as=eve --as-user-extra=k=v --kubeconfig "+kubeconfig)
	for _, context := range []string{"b", "a", "b"} { // in any order, also twice
		config, err := flags.ForContext(context).Config()
		if err != nil {
			t.Fatal(err)
		}
		want := rest.ImpersonationConfig{UserName: "eve", Extra: map[string][]string{"k": {"v"}}}
		if diff := cmp.Diff(want, config.Impersonate); diff != "" {
			t.Errorf("impersonation (-want +got):\n%s", diff)
		}
		if config.Host != "https://"+context+":1" {
			t.Errorf("context %s connects to %s", context, config.Host)
		}
		if context == "b" && !config.ExecProvider.StdinUnavailable {
			t.Error("a plugin may prompt although several clusters are used")
		}
	}
	if config, err := parsed(t, "", "--context=b --kubeconfig "+kubeconfig).Config(); err != nil || config.ExecProvider.StdinUnavailable {
		t.Errorf("a plugin cannot prompt although there is only one cluster: %v", err)
	}
	if config, err := flags.ForContext("nowhere").Config(); err == nil {
		t.Errorf("a context without a cluster connects to %s", config.Host)
	}
	if _, err := flags.ForContext("no-such").Config(); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("a context that does not exist: %v", err)
	}
}
