package kubeconfig

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestRemoveURLCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		config                   rest.Config
		host, username, password string
	}{
		"no credentials":      {rest.Config{Host: "https://one:6443/base"}, "https://one:6443/base", "", ""},
		"only host and port":  {rest.Config{Host: "10.0.0.1:6443"}, "10.0.0.1:6443", "", ""},
		"user and password":   {rest.Config{Host: "https://me:hunter%402@one:6443/base"}, "https://one:6443/base", "me", "hunter@2"},
		"no scheme":           {rest.Config{Host: "me:hunter2@one:6443"}, "one:6443", "me", "hunter2"},
		"only a user":         {rest.Config{Host: "https://me@one"}, "https://one", "me", ""},
		"a token":             {rest.Config{Host: "https://me:hunter2@one", BearerToken: "t"}, "https://one", "", ""},
		"a token file":        {rest.Config{Host: "https://me:hunter2@one", BearerTokenFile: "t"}, "https://one", "", ""},
		"a credential plugin": {rest.Config{Host: "https://me:hunter2@one", ExecProvider: &clientcmdapi.ExecConfig{}}, "https://one", "", ""},
		"another user":        {rest.Config{Host: "https://me:hunter2@one", Username: "you", Password: "p"}, "https://one", "you", "p"},
		"an @ in the path":    {rest.Config{Host: "https://one/a@b"}, "https://one/a@b", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := test.config
			if err := removeURLCredentials(&config); err != nil {
				t.Fatal(err)
			}
			if config.Host != test.host || config.Username != test.username || config.Password != test.password {
				t.Errorf("got %q, %q, %q", config.Host, config.Username, config.Password)
			}
		})
	}
}

func TestInvalidServerURLIsNotQuoted(t *testing.T) {
	for _, host := range []string{"https://me:hunter2%zz@one", "https://me:hunter2/x@one:6443:1", "https://me:hunter2 x@one", "me:hunter2@one:6443", "//me:hunter2@one", "http:/me:hunter2@one"} {
		config := rest.Config{Host: host}
		err := removeURLCredentials(&config)
		if err != nil && strings.Contains(err.Error(), "hunter2") || err == nil && strings.Contains(config.Host, "hunter2") {
			t.Errorf("%s: %v, %s", host, err, config.Host)
		}
	}
}

// FuzzRemoveURLCredentials checks that no password is left in the host or in an error.
func FuzzRemoveURLCredentials(f *testing.F) {
	for _, s := range []string{"", "https://one", "https://me:hunter2@one", "https://me:hunter2@one/a@b", "me:hunter2@one:6443", "https://[::1]:1", "//me:hunter2@one", "https://me:hunter2@one@two", "%@", "@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		config := rest.Config{Host: host}
		if err := removeURLCredentials(&config); err != nil {
			if host != "" && strings.Contains(err.Error(), host) {
				t.Errorf("%q: %v", host, err)
			}
			return
		}
		if config.Password != "" && len(config.Password) > 8 && strings.Contains(config.Host, ":"+config.Password+"@") {
			t.Errorf("%q still has the password of %q", config.Host, host)
		}
		again := rest.Config{Host: config.Host}
		if err := removeURLCredentials(&again); err != nil || again.Username != "" || again.Password != "" {
			t.Errorf("%q contains %q and %q: %v", config.Host, again.Username, again.Password, err)
		}
	})
}
