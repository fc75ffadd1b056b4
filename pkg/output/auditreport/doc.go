// Package auditreport writes an audit for a person: a row per finding, then a sum.
//
// The table and the sum are the answer and belong on stdout; warnings of gaps
// and hints at the next step belong on stderr. That is the caller's to do, as
// is deciding on colour. Whatever came from the cluster is escaped and
// shortened here.
package auditreport
