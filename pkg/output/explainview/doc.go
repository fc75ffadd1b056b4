// Package explainview writes the explanation of an object for a person. Text from the
// cluster is escaped and shortened here.
package explainview
