// Package object holds an object's identity, its owner references and the few fields of its
// metadata that decide what the collector does with it.
//
// It holds data only and knows no client, clock or terminal. Values may be copied; nothing
// is safe for concurrent writing.
package object
