// Package color decides about colour. Colour underlines what the words already say: red is
// deleted, yellow changes or waits, green stays, dim is context. Without colour, text is
// returned unchanged. Text must be escaped before it is coloured.
package color
