// Package color is the one policy of colour.
//
// Colour only underlines what the words already say, by meaning: red goes,
// yellow changes or waits, green stays, dim is context. Whether there is colour
// at all is decided once, in New, from values: no package-level switch and no
// environment variable is read or set. Without colour every text is returned
// untouched. Text must be escaped before it is coloured.
package color
