package plan

import (
	"encoding/json"
	"unicode/utf8"
)

// canonical returns a valid JSON document in one form of its own: without white space, each
// string with the fewest escapes, the keys in their order, and without those that drop
// reports. The fields of the outermost object are at depth 1. Two documents that say the
// same, whichever program wrote them and however they are indented, have one canonical
// form; nothing in it depends on the types of this version.
func canonical(data []byte, drop func(depth int, key string) bool) []byte {
	c := &canonicalizer{data: data, out: make([]byte, 0, len(data)), drop: drop}
	c.value(1)
	return c.out
}

// canonicalizer rewrites a valid JSON document.
type canonicalizer struct {
	data []byte
	at   int
	out  []byte
	drop func(depth int, key string) bool
}

// next skips white space and returns the byte after it.
func (c *canonicalizer) next() byte {
	for c.data[c.at] == ' ' || c.data[c.at] == '\t' || c.data[c.at] == '\n' || c.data[c.at] == '\r' {
		c.at++
	}
	return c.data[c.at]
}

func (c *canonicalizer) value(depth int) {
	switch c.next() {
	case '{':
		c.list('}', func() bool { return c.field(depth) })
	case '[':
		c.list(']', func() bool { c.value(depth + 1); return true })
	case '"':
		c.out = appendString(c.out, c.text())
	default: // a number, true, false or null
		for c.at < len(c.data) && c.data[c.at] > ' ' && c.data[c.at] != ',' && c.data[c.at] != '}' && c.data[c.at] != ']' {
			c.out = append(c.out, c.data[c.at])
			c.at++
		}
	}
}

// list rewrites what is between two brackets. element reports whether it wrote anything.
func (c *canonicalizer) list(end byte, element func() bool) {
	c.out = append(c.out, c.data[c.at])
	c.at++
	for written := false; c.next() != end; {
		if c.data[c.at] == ',' {
			c.at++
		}
		before := len(c.out)
		if written {
			c.out = append(c.out, ',')
		}
		if element() {
			written = true
		} else {
			c.out = c.out[:before]
		}
	}
	c.at++
	c.out = append(c.out, end)
}

func (c *canonicalizer) field(depth int) bool {
	c.next()
	before := len(c.out)
	key := c.text()
	c.out = append(appendString(c.out, key), ':')
	c.next() // the colon
	c.at++
	c.value(depth + 1)
	if c.drop(depth, string(key)) {
		c.out = c.out[:before]
		return false
	}
	return true
}

// text returns the string that begins here.
func (c *canonicalizer) text() []byte {
	begin, plain := c.at, true
	for c.at++; c.data[c.at] != '"'; c.at++ {
		if c.data[c.at] == '\\' {
			plain = false
			c.at++
		}
	}
	c.at++
	quoted := c.data[begin:c.at]
	if plain && utf8.Valid(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("a string of a valid JSON document: " + err.Error())
	}
	return []byte(text)
}

func appendString(out, text []byte) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < ' ':
			out = append(out, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}
