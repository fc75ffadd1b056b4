package kubeconfig_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/kubeconfig"
)

const file = `
apiVersion: v1
kind: Config
current-context: dev
contexts:
- {name: dev, context: {cluster: one, user: me, namespace: shop}}
- {name: prod, context: {cluster: two, user: me}}
clusters:
- {name: one, cluster: {server: "https://one:6443", insecure-skip-tls-verify: true}}
- {name: two, cluster: {server: "https://two:6443", insecure-skip-tls-verify: true}}
users:
- {name: me, user: {token: mine}}
`

func TestFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	type values struct{ Host, Token, User, Context, Namespace, Named, Timeout string }
	for name, test := range map[string]struct {
		line string
		want values
	}{
		"the current context":    {"", values{"https://one:6443", "mine", "", "dev", "shop", "", "30s"}},
		"another context":        {"--context prod", values{"https://two:6443", "mine", "", "prod", "default", "", "30s"}},
		"a namespace":            {"-n other", values{"https://one:6443", "mine", "", "dev", "other", "other", "30s"}},
		"another server":         {"-s https://three:1", values{"https://three:1", "mine", "", "dev", "shop", "", "30s"}},
		"another token and time": {"--token=theirs --request-timeout=1s", values{"https://one:6443", "theirs", "", "dev", "shop", "", "1s"}},
		"impersonation":          {"--as=eve --as-uid=7 --as-group=a --as-group=b --as-user-extra=k=v --as-user-extra=k=w", values{"https://one:6443", "mine", "eve 7 a,b k:v,w", "dev", "shop", "", "30s"}},
	} {
		t.Run(name, func(t *testing.T) {
			flags, line := kubeconfig.New("30s"), pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.AddFlags(line)
			if err := line.Parse(append(strings.Fields(test.line), "--kubeconfig", path)); err != nil {
				t.Fatal(err)
			}
			config, err := flags.Config()
			if err != nil {
				t.Fatal(err)
			}
			got := values{Host: config.Host, Token: config.BearerToken, Named: flags.Namespace(), Timeout: flags.GivenTimeout()}
			if as := config.Impersonate; as.UserName != "" {
				got.User = strings.Join([]string{as.UserName, as.UID, strings.Join(as.Groups, ","), "k:" + strings.Join(as.Extra["k"], ",")}, " ")
			}
			if got.Namespace, err = flags.CurrentNamespace(); err != nil {
				t.Fatal(err)
			}
			all, current, err := flags.Contexts()
			if err != nil {
				t.Fatal(err)
			}
			got.Context = current
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Sort(all)
			if diff := cmp.Diff([]string{"dev", "prod"}, all); diff != "" {
				t.Errorf("contexts (-want +got):\n%s", diff)
			}
			clusters, err := flags.Clusters()
			slices.Sort(clusters)
			if diff := cmp.Diff([]string{"one", "two"}, clusters); diff != "" || err != nil {
				t.Errorf("clusters: %v (-want +got):\n%s", err, diff)
			}
			if users, err := flags.Users(); err != nil || len(users) != 1 || users[0] != "me" {
				t.Errorf("users %q: %v", users, err)
			}
		})
	}
}

func TestDisablePrompts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	plugin := strings.Replace(file, "{token: mine}", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ask, interactiveMode: IfAvailable}}", 1)
	if err := os.WriteFile(path, []byte(plugin), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, unattended := range []bool{false, true} {
		flags, line := kubeconfig.New("30s"), pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.AddFlags(line)
		if err := line.Parse([]string{"--kubeconfig", path}); err != nil {
			t.Fatal(err)
		}
		if unattended {
			flags.DisablePrompts()
		}
		config, err := flags.Config()
		if err != nil {
			t.Fatal(err)
		}
		if config.ExecProvider.StdinUnavailable != unattended {
			t.Errorf("unattended %t: StdinUnavailable is wrong", unattended)
		}
	}
}

func TestFlagsAreKubectls(t *testing.T) {
	line := pflag.NewFlagSet("", pflag.ContinueOnError)
	kubeconfig.New("30s").AddFlags(line)
	var got []string
	line.VisitAll(func(f *pflag.Flag) {
		name := f.Name
		if f.Shorthand != "" {
			name += " " + f.Shorthand
		}
		got = append(got, name)
	})
	want := []string{
		"as", "as-group", "as-uid", "as-user-extra", "cache-dir", "certificate-authority", "client-certificate", "client-key",
		"cluster", "context", "disable-compression", "insecure-skip-tls-verify", "kubeconfig", "namespace n", "proxy-url",
		"request-timeout", "server s", "tls-server-name", "token", "user",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
