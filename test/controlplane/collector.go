package main

import "fmt"

// collector is the state of a control plane's garbage collector.
type collector string

const (
	collectorOn     collector = "on"
	collectorOff    collector = "off"    // kube-controller-manager runs without it
	collectorAbsent collector = "absent" // kube-controller-manager does not run
)

func parseCollector(s string) (collector, error) {
	switch c := collector(s); c {
	case collectorOn, collectorOff, collectorAbsent:
		return c, nil
	default:
		return "", fmt.Errorf("collector is %q, want on, off or absent", s)
	}
}

// controllers returns the value of kube-controller-manager's flag --controllers.
func (c collector) controllers() string {
	if c == collectorOff {
		return "*,-garbage-collector-controller"
	}
	return "*"
}
