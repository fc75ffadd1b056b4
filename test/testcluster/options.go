package testcluster

import (
	"io"
	"os"
	"slices"
	"strings"
)

// BuildVariable names the environment variable that, when not empty, allows tests to build a
// control plane, which takes minutes. Without it they are skipped if there is none.
const BuildVariable = "KUBECTL_GC_E2E"

// VersionVariable names the environment variable with the minor version of Kubernetes to start,
// such as 1.33. The default is the newest.
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
	// AdmissionPlugins are enabled in addition to the default ones. ServiceAccount is disabled unless
	// it is among them, so that pods can be created without a kube-controller-manager.
	AdmissionPlugins []string
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
		args = append(args, "--apiserver-flag=enable-admission-plugins="+strings.Join(o.AdmissionPlugins, ","))
	}
	if slices.Contains(o.AdmissionPlugins, "ServiceAccount") {
		args = append(args, "--apiserver-flag=disable-admission-plugins=")
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
