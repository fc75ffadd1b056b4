// Package event is the vocabulary in which a run tells of its progress.
//
// Values are plain data; what is done with them, and when, is the listener's.
package event
