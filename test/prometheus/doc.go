// Package prometheus checks the Prometheus output of kubectl gc with Prometheus itself: its
// parser, its linter, and its engine, which evaluates the alerts of docs/in-cluster. It is a
// separate module, so that the program does not depend on Prometheus.
package prometheus
