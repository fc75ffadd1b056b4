package main

import (
	"flag"
	"time"
)

// startTimeout is how long a control plane may take to become ready.
const startTimeout = 3 * time.Minute

// options are the flags of run and up.
type options struct {
	version     string // minor version of Kubernetes; empty means the newest
	collector   collector
	onlyIfBuilt bool
	state       string // folder that up and down share; empty if the run ends with its stdin
	apiserver   []setting
	manager     []setting
}

func (o *options) register(fs *flag.FlagSet) {
	o.collector = collectorOn
	fs.StringVar(&o.version, "version", "", versionUsage)
	fs.Func("collector", "the garbage collector: on, off, or absent (no kube-controller-manager at all) (default on)", func(s string) (err error) {
		o.collector, err = parseCollector(s)
		return err
	})
	fs.BoolVar(&o.onlyIfBuilt, "only-if-built", false, "fail rather than build the binaries")
	fs.StringVar(&o.state, "state", "", stateUsage)
	fs.Func("apiserver-flag", "a flag of kube-apiserver, as key=value; repeatable, wins over what is set otherwise", settings(&o.apiserver))
	fs.Func("manager-flag", "a flag of kube-controller-manager, as key=value; repeatable, wins over what is set otherwise", settings(&o.manager))
}

func settings(to *[]setting) func(string) error {
	return func(s string) error {
		parsed, err := parseSetting(s)
		*to = append(*to, parsed)
		return err
	}
}
