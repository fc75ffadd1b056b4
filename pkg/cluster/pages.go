package cluster

import "errors"

// errEndless says that a list was not read to its end, since it seems to have none.
var errEndless = errors.New("the server sends more and more pages, of more objects than any cluster holds")

// errRepeated says that no page is offered but the one that was read.
var errRepeated = errors.New("the server sends the same page again and again")

// emptyPage is for how many objects a page counts that holds none: a server may send some
// such, but not without end.
const emptyPage = 1000

// pages is how far a list has been read. The zero value is before the first page.
type pages struct {
	at   string // the continue token of the page to be read; empty: the first
	read int
}

// next moves on behind a page of so many objects to the one that it offers; more is
// false behind the last.
func (p *pages) next(token string, objects int) (more bool, err error) {
	p.read += objects
	if objects == 0 {
		p.read += emptyPage
	}
	switch {
	case token == "":
		return false, nil
	case token == p.at:
		return false, errRepeated
	case p.read > mostObjects:
		return false, errEndless
	}
	p.at = token
	return true, nil
}
