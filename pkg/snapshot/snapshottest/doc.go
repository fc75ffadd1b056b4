// Package snapshottest builds objects and snapshots for tests, so that a test states only
// what matters to it: which objects exist, who owns whom, and what could not be read.
//
// Everything it returns is new and may be changed.
package snapshottest
