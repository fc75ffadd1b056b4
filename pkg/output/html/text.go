package html

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// How many characters of a string from the cluster are shown. A real object fits; what
// is longer was made to be.
const (
	nameWidth     = 400
	sentenceWidth = 1200
)

func name(s string) string { return escape.Short(s, nameWidth) }

func sentence(s string) string { return escape.Short(s, sentenceWidth) }

// texts holds each string that is used several times once. A string is escaped and has a
// number.
type texts struct {
	at  map[string]int
	all []string
}

func newTexts() *texts { return &texts{at: map[string]int{"": 0}, all: []string{""}} }

// of returns the number of a string from the cluster, escaped and shortened.
func (t *texts) of(s string, width int) int { return t.escaped(escape.Short(s, width)) }

// escaped returns the number of a string that is already escaped.
func (t *texts) escaped(s string) int {
	at, known := t.at[s]
	if !known {
		at = len(t.all)
		t.at[s] = at
		t.all = append(t.all, s)
	}
	return at
}
