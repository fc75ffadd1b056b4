// Package kubeconfig determines which cluster to connect to, and as which user, from
// kubectl's flags and kubeconfig files, or from the service account of a Pod.
//
// client-go reads and merges the files. cli-runtime offers the same flags, but it links
// the types of all API groups, which makes start-up slower.
package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/homedir"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// Flags are the connection flags of a command line. Parse it before reading them.
type Flags struct {
	file      string
	userExtra []string
	overrides clientcmd.ConfigOverrides
	mounted   string // folder of a Pod's service account
	noPrompt  string // why credential plugins cannot prompt; empty if they can
	multiple  bool   // one of several clusters
	given     *pflag.FlagSet
	load      func() (clientcmd.ClientConfig, error)
}

// New returns the flags with timeout as the default of --request-timeout.
func New(timeout string) *Flags {
	f := &Flags{overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults, Timeout: timeout}, mounted: mounted, given: pflag.NewFlagSet("", pflag.ContinueOnError)}
	f.load = sync.OnceValues(f.loader)
	return f
}

// ForContext returns the same flags for another context that is used together with others:
// credential plugins cannot prompt, and a context without a server is an error. For a
// single context, kubectl uses localhost then; here that would be reported under the
// wrong name.
func (f *Flags) ForContext(context string) *Flags {
	other := &Flags{file: f.file, userExtra: f.userExtra, overrides: f.overrides, mounted: f.mounted, given: f.given, noPrompt: "several clusters are asked at once; log in beforehand", multiple: true}
	other.overrides.CurrentContext = context
	other.load = sync.OnceValues(other.loader)
	return other
}

// AddFlags adds the flags under kubectl's names.
func (f *Flags) AddFlags(all *pflag.FlagSet) {
	flags := f.given
	named := clientcmd.RecommendedConfigOverrideFlags("")
	named.AuthOverrideFlags.Username.LongName, named.AuthOverrideFlags.Password.LongName = "", "" // kubectl has removed them
	named.ClusterOverrideFlags.APIServer.ShortName = "s"
	named.Timeout.Default = f.overrides.Timeout
	clientcmd.BindOverrideFlags(&f.overrides, flags, named)
	flags.StringArrayVar(&f.userExtra, "as-user-extra", nil, "User extras to impersonate for the operation; may be repeated.")
	flags.StringVar(&f.file, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	// kubectl's default
	cache := cmp.Or(os.Getenv("KUBECACHEDIR"), filepath.Join(homedir.HomeDir(), clientcmd.RecommendedHomeDir, "cache"))
	flags.String("cache-dir", cache, "Accepted for compatibility; unused.")
	for name, short := range map[string]string{
		"as-group":                 "Group to impersonate for the operation; may be repeated.",
		"insecure-skip-tls-verify": "Do not verify the server's certificate: connections are insecure.",
		"tls-server-name":          "Server name to verify the server's certificate against (default: its host).",
	} {
		flags.Lookup(name).Usage = short
	}
	flags.VisitAll(func(f *pflag.Flag) { f.Usage = strings.TrimSuffix(f.Usage, ".") + "." })
	all.AddFlagSet(flags)
}

// Given returns the flags of the command line that choose the cluster and the user, in
// alphabetical order. Their values may be credentials.
func (f *Flags) Given() []*pflag.Flag {
	var out []*pflag.Flag
	f.given.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains([]string{"namespace", "request-timeout", "cache-dir"}, flag.Name) {
			out = append(out, flag)
		}
	})
	return out
}

// Target returns the name of the context in use, which is empty if there is none or if flags
// choose another cluster than the context does, and the URL of the server without credentials.
func (f *Flags) Target() (context, server string, err error) {
	config, err := f.Config()
	if err != nil {
		return "", "", err
	}
	if f.overrides.ClusterInfo.Server == "" && f.overrides.Context.Cluster == "" {
		if _, context, err = f.Contexts(); err != nil {
			return "", "", err
		}
	}
	return context, redact.URL(config.Host), nil
}

// Namespace returns the value of -n, which may be empty.
func (f *Flags) Namespace() string { return f.overrides.Context.Namespace }

// GivenTimeout returns the value of --request-timeout.
func (f *Flags) GivenTimeout() string { return f.overrides.Timeout }

// Timeout returns the limit of --request-timeout, in which a number without a unit is seconds; 0 for none.
func (f *Flags) Timeout() (time.Duration, error) {
	return clientcmd.ParseTimeout(cmp.Or(f.overrides.Timeout, "0"))
}

// DisablePrompts keeps credential plugins from prompting.
func (f *Flags) DisablePrompts() { f.noPrompt = "nobody can be asked now" }

// Config returns the config of the cluster. Its Host has no credentials.
func (f *Flags) Config() (*rest.Config, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, f.redacted(err)
	}
	if plugin := config.ExecProvider; plugin != nil && f.noPrompt != "" {
		plugin.StdinUnavailable, plugin.StdinUnavailableMessage = true, f.noPrompt
	}
	return config, removeURLCredentials(config)
}

// redacted removes credentials from an error of client-go, which may quote the URL of a
// server or a proxy.
func (f *Flags) redacted(err error) error {
	addresses := []string{f.overrides.ClusterInfo.Server, f.overrides.ClusterInfo.ProxyURL}
	if raw, rawErr := f.raw(); rawErr == nil {
		for _, c := range raw.Clusters {
			addresses = append(addresses, c.Server, c.ProxyURL)
		}
	}
	return redact.Error(err, addresses...)
}

// CurrentNamespace returns the value of -n, or the namespace of the context, or default.
func (f *Flags) CurrentNamespace() (string, error) {
	loaded, err := f.load()
	if err != nil {
		return "", err
	}
	name, _, err := loaded.Namespace()
	return name, err
}

// Contexts returns the names of all contexts, and of the one in use.
func (f *Flags) Contexts() (all []string, current string, err error) {
	raw, err := f.raw()
	if err != nil {
		return nil, "", err
	}
	return slices.Collect(maps.Keys(raw.Contexts)), cmp.Or(f.overrides.CurrentContext, raw.CurrentContext), nil
}

// Clusters returns the names of all clusters in the files.
func (f *Flags) Clusters() ([]string, error) {
	raw, err := f.raw()
	return slices.Collect(maps.Keys(raw.Clusters)), err
}

// Users returns the names of all users in the files.
func (f *Flags) Users() ([]string, error) {
	raw, err := f.raw()
	return slices.Collect(maps.Keys(raw.AuthInfos)), err
}

// raw returns the merged files.
func (f *Flags) raw() (api.Config, error) {
	loaded, err := f.load()
	if err != nil {
		return api.Config{}, err
	}
	return loaded.RawConfig()
}

// otherKind matches client-go's error about a file that is something else.
var otherKind = regexp.MustCompile(`error loading config file ("[^"]*"): no kind ("[^"]*") is registered .*`)

// loader reads and merges the files. Without files and --server, a Pod uses its own
// cluster. The Pod's token is never sent to another cluster.
func (f *Flags) loader() (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.file
	config, err := rules.Load()
	if err != nil {
		return nil, errors.New(otherKind.ReplaceAllString(err.Error(), "$1 is not a kubeconfig, but of kind $2"))
	}
	if chosen := f.overrides.ClusterInfo.Server + f.overrides.Context.Cluster; chosen == "" {
		if pod := f.pod(); api.IsConfigEmpty(config) && pod != nil {
			config = pod
		}
		switch {
		case api.IsConfigEmpty(config):
			return nil, fmt.Errorf("there is none: %s does not exist or is empty", strings.Join(rules.GetLoadingPrecedence(), ", "))
		case cmp.Or(f.overrides.CurrentContext, config.CurrentContext) == "":
			return nil, errors.New("it has no current context")
		}
	}
	if context := config.Contexts[f.overrides.CurrentContext]; f.multiple && context != nil {
		if cluster := config.Clusters[context.Cluster]; cluster == nil || cluster.Server == "" {
			return nil, fmt.Errorf("its cluster %q does not exist, or has no server", context.Cluster)
		}
	}
	overrides := f.overrides
	overrides.AuthInfo.ImpersonateUserExtra = f.impersonateExtra()
	return clientcmd.NewNonInteractiveClientConfig(*config, overrides.CurrentContext, &overrides, rules), nil
}

// impersonateExtra returns the values of --as-user-extra by key, nil if there are none.
func (f *Flags) impersonateExtra() map[string][]string {
	var extra map[string][]string
	for _, given := range f.userExtra {
		if key, value, ok := strings.Cut(given, "="); ok {
			if extra == nil {
				extra = map[string][]string{}
			}
			extra[key] = append(extra[key], value)
		}
	}
	return extra
}

// removeURLCredentials moves user and password from the server's URL, which is printed
// and logged, to the config, unless that has other credentials. It also removes query
// and fragment, which client-go ignores.
func removeURLCredentials(config *rest.Config) error {
	scheme := ""
	if !strings.Contains(config.Host, "://") {
		scheme = "https://" // the scheme is optional
	}
	if redact.URL(config.Host) == config.Host && (scheme == "" || !strings.Contains(config.Host, "@")) {
		return nil
	}
	server, err := url.Parse(scheme + config.Host)
	if err != nil || server.Host == "" || scheme != "" && strings.Contains(server.Path, "@") { // err quotes the URL
		return errors.New("the server's URL is not valid; in a user or password, write every character but letters and digits as %xx")
	}
	user := server.User
	server.User, server.RawQuery, server.ForceQuery, server.Fragment, server.RawFragment = nil, "", false, "", ""
	config.Host = strings.TrimPrefix(server.String(), scheme)
	if user == nil || hasCredentials(config) {
		return nil
	}
	config.Username = user.Username()
	config.Password, _ = user.Password()
	return nil
}

// hasCredentials reports whether a config has credentials other than a certificate.
func hasCredentials(c *rest.Config) bool {
	return c.Username != "" || c.BearerToken != "" || c.BearerTokenFile != "" || c.ExecProvider != nil || c.AuthProvider != nil
}
