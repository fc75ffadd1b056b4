// Package explain answers what happens to one object, and why: each owner reference with
// its verdict and evidence, what happens next, what blocks it, what is deleted with it, and
// which commands would change that.
//
// It applies the rules of package collector to one scan and puts the results into
// sentences, for readers who may not know owner references. Strings from the cluster are
// not escaped. The package uses no client, clock or terminal.
package explain
