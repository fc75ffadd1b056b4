// Package explainview writes the explanation of an object for a person: what becomes of
// it in one sentence, then each reference with what was found, what happens next,
// what it waits for, what goes along, and what would change it.
//
// Values in, text out: no client, no clock, no terminal. Whatever came from the
// cluster is escaped and shortened here. Colour only underlines the words.
package explainview
