// Package prometheus writes an audit as metrics, in Prometheus's text exposition format,
// version 0.0.4. Names and labels are a public contract. Every rule has its series, also
// if it found nothing, as an alert on a missing series never fires. A cluster without an
// answer has only the series that say so. No series is about a single object or namespace,
// as there would be too many.
package prometheus
