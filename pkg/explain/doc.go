// Package explain explains what becomes of one object, and why: each of its
// references with the verdict and the evidence for it, what happens next, what
// it waits for, what goes along with it, and what would change that.
//
// It decides nothing. Verdicts, decisions and what follows from them are the
// collector's (pkg/collector), from one look; here they are put into words. The
// words are for people who may not know owner references: sentences, in the
// plain. Strings from the cluster stand in them as they came: whoever prints them
// escapes them.
//
// Values in, values out: no client, no clock, no terminal. A View is not safe for
// concurrent use.
package explain
