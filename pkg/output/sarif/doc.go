// Package sarif writes an audit as a SARIF 2.1.0 log. Equal reports give equal logs: there
// is no time and no random ID. All rules are described. Text from the cluster is escaped
// and can form neither a link nor a placeholder. The log uses structs of its own, as the
// library for SARIF brings a JSON schema engine; the tests use it.
package sarif
