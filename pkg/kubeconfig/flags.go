package kubeconfig

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/homedir"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// Flags are what a command line says of the connection. They may be asked once
// the command line was read.
type Flags struct {
	file, cache string
	userExtra   []string
	overrides   clientcmd.ConfigOverrides
	mounted     string // of a Pod's service account
	unattended  string // why nobody can be asked; "" where somebody can
	among       bool   // other clusters
	load        func() (clientcmd.ClientConfig, error)
}

// New answers flags at their defaults, that of --request-timeout being timeout.
func New(timeout string) *Flags {
	f := &Flags{overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults, Timeout: timeout}, mounted: mounted}
	f.load = sync.OnceValues(f.loader)
	return f
}

// In are the same flags for another context, as one of several that are used at once: a
// plugin that would have to ask a person for credentials fails, and so does a context
// that leads to no server: for the only one, kubectl asks localhost then, but here what is
// there would go by another name.
func (f *Flags) In(context string) *Flags {
	other := &Flags{file: f.file, userExtra: f.userExtra, overrides: f.overrides, mounted: f.mounted, unattended: "several clusters are asked at once; log in beforehand", among: true}
	other.overrides.CurrentContext = context
	other.load = sync.OnceValues(other.loader)
	return other
}

// Add offers the flags by the names that kubectl has for them.
func (f *Flags) Add(flags *pflag.FlagSet) {
	named := clientcmd.RecommendedConfigOverrideFlags("")
	named.AuthOverrideFlags.Username.LongName, named.AuthOverrideFlags.Password.LongName = "", "" // kubectl dropped them
	named.ClusterOverrideFlags.APIServer.ShortName = "s"
	named.Timeout.Default = f.overrides.Timeout
	clientcmd.BindOverrideFlags(&f.overrides, flags, named)
	flags.StringArrayVar(&f.userExtra, "as-user-extra", nil, "User extras to impersonate for the operation, this flag can be repeated to specify multiple values for the same key.")
	flags.StringVar(&f.file, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	flags.StringVar(&f.cache, "cache-dir", cacheDir(), "taken as kubectl takes it; nothing is cached here")
}

// cacheDir is kubectl's.
func cacheDir() string {
	if dir := os.Getenv("KUBECACHEDIR"); dir != "" {
		return dir
	}
	return filepath.Join(homedir.HomeDir(), clientcmd.RecommendedHomeDir, "cache")
}

// Namespace is the one that -n names, or empty.
func (f *Flags) Namespace() string { return f.overrides.Context.Namespace }

// Timeout is what --request-timeout says.
func (f *Flags) Timeout() string { return f.overrides.Timeout }

// Unattended says that nobody is there whom a credential plugin could ask.
func (f *Flags) Unattended() { f.unattended = "nobody can be asked now" }

// Config leads to the cluster. Its Host holds no credentials.
func (f *Flags) Config() (*rest.Config, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, f.redacted(err)
	}
	if plugin := config.ExecProvider; plugin != nil && f.unattended != "" {
		plugin.StdinUnavailable, plugin.StdinUnavailableMessage = true, f.unattended
	}
	return config, bare(config)
}

// redacted returns an error of client-go's, which may quote the URL of a server or a
// proxy, without the credentials in it.
func (f *Flags) redacted(err error) error {
	addresses := []string{f.overrides.ClusterInfo.Server, f.overrides.ClusterInfo.ProxyURL}
	if raw, unread := f.raw(); unread == nil {
		for _, c := range raw.Clusters {
			addresses = append(addresses, c.Server, c.ProxyURL)
		}
	}
	return redact.Error(err, addresses...)
}

// HomeNamespace is the one that -n names, else that of the context, else default.
func (f *Flags) HomeNamespace() (string, error) {
	loaded, err := f.load()
	if err != nil {
		return "", err
	}
	name, _, err := loaded.Namespace()
	return name, err
}

// Contexts are the names of all contexts, and of the one in use.
func (f *Flags) Contexts() (all []string, current string, err error) {
	raw, err := f.raw()
	if err != nil {
		return nil, "", err
	}
	all = slices.Collect(maps.Keys(raw.Contexts))
	if f.overrides.CurrentContext != "" {
		return all, f.overrides.CurrentContext, nil
	}
	return all, raw.CurrentContext, nil
}

// Clusters are the names of all clusters that the files know.
func (f *Flags) Clusters() ([]string, error) {
	raw, err := f.raw()
	return slices.Collect(maps.Keys(raw.Clusters)), err
}

// Users are the names of all users that the files know.
func (f *Flags) Users() ([]string, error) {
	raw, err := f.raw()
	return slices.Collect(maps.Keys(raw.AuthInfos)), err
}

// raw is what the files say, merged.
func (f *Flags) raw() (api.Config, error) {
	loaded, err := f.load()
	if err != nil {
		return api.Config{}, err
	}
	return loaded.RawConfig()
}

// loader reads and merges the files. Where they say nothing, and --server neither, a Pod
// has its own cluster: its token is for that one alone.
func (f *Flags) loader() (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.file
	config, err := rules.Load()
	if err != nil {
		return nil, err
	}
	if api.IsConfigEmpty(config) && f.overrides.ClusterInfo.Server == "" {
		if pod := f.pod(); pod != nil {
			config = pod
		}
	}
	if context := config.Contexts[f.overrides.CurrentContext]; f.among && context != nil {
		if to := config.Clusters[context.Cluster]; to == nil || to.Server == "" {
			return nil, fmt.Errorf("its cluster %q is not there, or has no server", context.Cluster)
		}
	}
	overrides := f.overrides
	overrides.AuthInfo.ImpersonateUserExtra = f.impersonateExtra()
	return clientcmd.NewNonInteractiveClientConfig(*config, overrides.CurrentContext, &overrides, rules), nil
}

// impersonateExtra is what --as-user-extra says, by its keys; nil for nothing.
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
