// Package object names what the collector looks at: the identity of an object,
// its owner references and the few fields of its metadata that decide its fate.
//
// It holds data and spelling only. It decides nothing, reads nothing and knows
// no client, clock or terminal. Values are plain and may be copied; nothing
// here is safe for concurrent writing.
package object
