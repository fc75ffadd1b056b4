// Package prometheus writes an audit as metrics, in the text exposition format of
// Prometheus (version 0.0.4).
//
// The names and labels are a public contract, as those of -o json are. Every rule
// that was judged by has its series, also where it found nothing: an alert on a
// series that is not there never fires. Nothing that was not seen is counted as
// none: a cluster that gave no answer has no series but those which say so.
//
// Equal audits are written alike. No number is of one object or namespace, since
// the series would be as many as these.
package prometheus
