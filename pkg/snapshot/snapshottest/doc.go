// Package snapshottest builds small objects and snapshots for tests, so that a
// test states only what matters to it: who is there, who names whom as its
// owner, and what could not be seen.
//
// It is for tests alone. Everything it answers is fresh and may be changed.
package snapshottest
