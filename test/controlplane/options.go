package main

import (
	"flag"
	"slices"
	"strings"
	"time"
)

// options are the flags of run and up.
type options struct {
	version       string // minor version of Kubernetes; empty means the newest
	collector     collector
	keep          bool
	detached      bool
	onlyIfBuilt   bool
	timeout       time.Duration
	enable        []string // admission plugins
	disable       []string // admission plugins
	runtimeConfig string
	apiserver     []setting
	manager       []setting
}

// register declares the flags. It omits the flags of run that up sets itself.
func (o *options) register(fs *flag.FlagSet) {
	registerVersion(fs, &o.version)
	o.collector = collectorOn
	fs.Func("collector", "the garbage collector: on, off, or absent (no kube-controller-manager at all) (default on)", func(s string) (err error) {
		o.collector, err = parseCollector(s)
		return err
	})
	fs.BoolVar(&o.keep, "keep", false, "keep the folder of the run (keys, logs, etcd's data) when it ends")
	fs.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long to wait for the control plane to become ready")
	fs.Func("admission-plugins", "admission plugins to enable beside the default ones, separated by commas", list(&o.enable))
	fs.Func("disable-admission-plugins", "admission plugins to disable beside ServiceAccount, separated by commas", list(&o.disable))
	fs.StringVar(&o.runtimeConfig, "runtime-config", "", "APIs to switch on or off, as kube-apiserver takes them")
	fs.Func("apiserver-flag", "a flag of kube-apiserver, as key=value; repeatable, wins over what is set otherwise", settings(&o.apiserver))
	fs.Func("manager-flag", "a flag of kube-controller-manager, as key=value; repeatable, wins over what is set otherwise", settings(&o.manager))
}

// registerVersion declares the flag that chooses the version of Kubernetes.
func registerVersion(fs *flag.FlagSet, to *string) {
	newest := newestModule().minor()
	fs.Func("version", "the minor version of Kubernetes, one of "+offered()+" (default "+newest+")", func(s string) error {
		m, err := findModule(s)
		if err != nil {
			return err
		}
		if *to = m.minor(); *to == newest {
			*to = ""
		}
		return nil
	})
}

func (o *options) registerRun(fs *flag.FlagSet) {
	o.register(fs)
	fs.BoolVar(&o.detached, "detached", false, "ignore stdin, stay until a signal comes")
	fs.BoolVar(&o.onlyIfBuilt, "only-if-built", false, "fail rather than build the binaries")
}

// args returns a command line that parses to o. Equal options have equal command lines.
func (o *options) args() []string {
	args := []string{"--collector=" + string(o.collector), "--timeout=" + o.timeout.String()}
	if o.version != "" {
		args = append(args, "--version="+o.version)
	}
	if o.keep {
		args = append(args, "--keep")
	}
	if len(o.enable) > 0 {
		args = append(args, "--admission-plugins="+strings.Join(o.enable, ","))
	}
	if len(o.disable) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(o.disable, ","))
	}
	if o.runtimeConfig != "" {
		args = append(args, "--runtime-config="+o.runtimeConfig)
	}
	for _, s := range o.apiserver {
		args = append(args, "--apiserver-flag="+string(s))
	}
	for _, s := range o.manager {
		args = append(args, "--manager-flag="+string(s))
	}
	return args
}

// disabled returns the admission plugins to disable. They include ServiceAccount unless it was
// requested: it rejects Pods until a controller has created the service account, and there may be
// no such controller.
func (o *options) disabled() []string {
	if slices.Contains(o.enable, "ServiceAccount") {
		return o.disable
	}
	return append([]string{"ServiceAccount"}, o.disable...)
}

func list(to *[]string) func(string) error {
	return func(s string) error {
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*to = append(*to, item)
			}
		}
		return nil
	}
}

func settings(to *[]setting) func(string) error {
	return func(s string) error {
		parsed, err := parseSetting(s)
		*to = append(*to, parsed)
		return err
	}
}
