// Package auditreport writes an audit for a person: the table of findings, a summary,
// warnings about gaps, and hints for the next step. Text from the cluster is escaped and
// shortened here.
package auditreport
