// Package sarif writes an audit as a SARIF 2.1.0 log, for code scanners and
// dashboards.
//
// The log is the same for the same report: no time, no random id. All rules are
// described, also those that found nothing. Text from the cluster is escaped,
// and can neither form a link nor a placeholder. The few elements that are
// needed are structs of this package: the library that models all of SARIF
// brings a JSON-schema engine along, and serves the tests instead.
package sarif
