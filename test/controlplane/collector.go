package main

import "fmt"

// collector says what a control plane has of a garbage collector.
type collector string

const (
	collectorOn     collector = "on"
	collectorOff    collector = "off"    // kube-controller-manager runs without it
	collectorAbsent collector = "absent" // kube-controller-manager doesn't run at all
)

func parseCollector(s string) (collector, error) {
	switch c := collector(s); c {
	case collectorOn, collectorOff, collectorAbsent:
		return c, nil
	default:
		return "", fmt.Errorf("collector is %q, want on, off or absent", s)
	}
}

// controllers is the value of the controller manager's flag of that name.
func (c collector) controllers() string {
	if c == collectorOff {
		return "*,-garbage-collector-controller"
	}
	return "*"
}
