// Package input reads text that nobody vouches for: what that takes of memory is
// bounded by the text, whatever it would expand to.
package input
