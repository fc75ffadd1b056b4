// Package prometheus holds what kubectl gc writes for Prometheus against Prometheus
// itself: its parser, its linter, and its engine, which evaluates the alerts of
// docs/in-cluster. It is a module of its own, so that no build of the program has to
// know of Prometheus.
package prometheus
