package testcluster

import (
	"io"
	"os"
	"strings"
)

// BuildVariable names the environment variable that, when not empty, allows tests to build a
// control plane, which takes minutes. Without it they are skipped if there is none.
const BuildVariable = "KUBECTL_GC_E2E"

// VersionVariable names the environment variable with the minor version of Kubernetes to start,
// such as 1.33. The default is the newest. `controlplane up -h` says which there are.
const VersionVariable = "KUBERNETES"

// The states of the garbage collector.
const (
	On     = "on"     // as in a usual cluster
	Off    = "off"    // kube-controller-manager runs without the garbage collector
	Absent = "absent" // no kube-controller-manager at all
)

// Options configure a control plane. The zero value is a usual one, with the collector on.
type Options struct {
	// Collector is On, Off or Absent; empty means On.
	Collector string
	// AdmissionPlugins are enabled in addition to the default ones.
	AdmissionPlugins []string
	// DisableAdmissionPlugins are disabled. So is ServiceAccount unless it is one of
	// AdmissionPlugins, so that pods can be created without a kube-controller-manager.
	DisableAdmissionPlugins []string
	// RuntimeConfig switches APIs on and off, as kube-apiserver takes it.
	RuntimeConfig string
	// APIServerFlags and ManagerFlags are flags of kube-apiserver and of
	// kube-controller-manager, as key=value. They override all other options.
	APIServerFlags, ManagerFlags []string

	// OnlyIfBuilt makes Start return ErrNotBuilt instead of building the binaries, which
	// takes minutes. BuildVariable overrides it.
	OnlyIfBuilt bool
	// Stderr receives the progress of a build; nil means os.Stderr.
	Stderr io.Writer
}

func (o Options) args() []string {
	args := []string{"run"}
	if version := os.Getenv(VersionVariable); version != "" {
		args = append(args, "--version="+version)
	}
	if o.Collector != "" {
		args = append(args, "--collector="+o.Collector)
	}
	if len(o.AdmissionPlugins) > 0 {
		args = append(args, "--admission-plugins="+strings.Join(o.AdmissionPlugins, ","))
	}
	if len(o.DisableAdmissionPlugins) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(o.DisableAdmissionPlugins, ","))
	}
	if o.RuntimeConfig != "" {
		args = append(args, "--runtime-config="+o.RuntimeConfig)
	}
	for _, flag := range o.APIServerFlags {
		args = append(args, "--apiserver-flag="+flag)
	}
	for _, flag := range o.ManagerFlags {
		args = append(args, "--manager-flag="+flag)
	}
	if o.OnlyIfBuilt && os.Getenv(BuildVariable) == "" {
		args = append(args, "--only-if-built")
	}
	return args
}
