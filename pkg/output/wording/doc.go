// Package wording words numbers and lists as every printer does. It escapes
// nothing: what came from the cluster is escaped before or after, by whoever
// knows how much of it to show.
package wording
