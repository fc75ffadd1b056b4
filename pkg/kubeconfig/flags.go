package kubeconfig

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/homedir"
)

// Flags are what a command line says of the connection. They may be asked once
// the command line was read.
type Flags struct {
	file, cache string
	userExtra   []string
	unattended  bool
	overrides   clientcmd.ConfigOverrides
	load        func() clientcmd.ClientConfig
}

// New answers flags at their defaults, that of --request-timeout being timeout.
func New(timeout string) *Flags {
	f := &Flags{overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults, Timeout: timeout}}
	f.load = sync.OnceValue(f.loader)
	return f
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
func (f *Flags) Unattended() { f.unattended = true }

// Config leads to the cluster. Its Host holds no credentials.
func (f *Flags) Config() (*rest.Config, error) {
	config, err := f.load().ClientConfig()
	if err != nil {
		return nil, err
	}
	if config.ExecProvider != nil && f.unattended {
		config.ExecProvider.StdinUnavailable = true
		config.ExecProvider.StdinUnavailableMessage = "nobody can be asked now"
	}
	return config, bare(config)
}

// HomeNamespace is the one that -n names, else that of the context, else default.
func (f *Flags) HomeNamespace() (string, error) {
	name, _, err := f.load().Namespace()
	return name, err
}

// Contexts are the names of all contexts, and of the one in use.
func (f *Flags) Contexts() (all []string, current string, err error) {
	raw, err := f.load().RawConfig()
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
	raw, err := f.load().RawConfig()
	return slices.Collect(maps.Keys(raw.Clusters)), err
}

// Users are the names of all users that the files know.
func (f *Flags) Users() ([]string, error) {
	raw, err := f.load().RawConfig()
	return slices.Collect(maps.Keys(raw.AuthInfos)), err
}

func (f *Flags) loader() clientcmd.ClientConfig {
	for _, extra := range f.userExtra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			if f.overrides.AuthInfo.ImpersonateUserExtra == nil {
				f.overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
			}
			f.overrides.AuthInfo.ImpersonateUserExtra[key] = append(f.overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = f.file
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.overrides)
}
