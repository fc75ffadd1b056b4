// Package terminating explains why objects that are being deleted are still there: what holds each, what that waits for, and whether it
// ends. Every command that speaks of a deletion under way takes its answer from here.
package terminating
