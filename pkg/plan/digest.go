package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Finalize fills in the plan's summary and digest.
func (p *Plan) Finalize() {
	p.summarize()
	p.Digest = p.digest()
}

func (p *Plan) summarize() {
	p.Summary = Summary{Blocked: len(p.Blocked), Kept: len(p.Kept)}
	for i := range p.Steps {
		p.Summary.add(p.Steps[i].Action)
	}
}

// Finalized returns the plan with the digest of its own steps, which Load requires. A
// revalidated plan has the digest of the saved plan instead.
func (p *Plan) Finalized() *Plan {
	out := *p
	out.Digest = p.digest()
	return &out
}

func (p *Plan) digest() string { return p.sum(notConfirmed)[:digestLength] }

// digestLength is that of a digest, in hexadecimal digits. 64 bits prevent a stranger who
// can choose names and UIDs from building another plan with the same digest.
const digestLength = 16

// digest returns the digest of a plan, given its stored form.
func digest(stored []byte) string { return sum(stored, notConfirmed)[:digestLength] }

// checksum returns the checksum of a plan, given its stored form.
func checksum(stored []byte) string { return sum(stored, notChecked) }

// notConfirmed reports the fields that the digest does not cover. The digest covers what a
// person confirms: completeness, gaps, steps with their reasons and order, and outcomes. It
// leaves out prose, which may be reworded; resourceVersions, which change for reasons that
// do not matter here (a step is bound to its own anyway); fields about the document; and
// fields that follow from others.
func notConfirmed(depth int, key string) bool {
	return key == "message" || key == "resourceVersion" ||
		depth == 1 && slices.Contains([]string{"apiVersion", "kind", "digest", "checksum", "clusterUID", "summary", "blocked"}, key)
}

// notChecked reports the fields that the checksum does not cover: itself, and those that
// Load compares.
func notChecked(depth int, key string) bool {
	return depth == 1 && (key == "checksum" || key == "apiVersion" || key == "kind")
}

func sum(stored []byte, drop dropFunc) string {
	hash := sha256.Sum256(canonical(stored, drop))
	return hex.EncodeToString(hash[:])
}

// sum returns what the function sum returns for the stored form of the plan.
func (p *Plan) sum(drop dropFunc) string {
	out := newSum(drop)
	p.encode(out.output)
	return out.hex()
}

// planSum sums what encode writes to its output.
type planSum struct {
	hash   hash.Hash
	output output
}

func newSum(drop dropFunc) planSum {
	h := sha256.New()
	_, _ = io.WriteString(h, "{")
	return planSum{h, output{h, (&canonicalizer{drop: drop}).rewrite, noNewline, ":", drop}}
}

// hex returns the sum, after which nothing may be written.
func (s planSum) hex() string {
	_, _ = io.WriteString(s.hash, "}")
	return hex.EncodeToString(s.hash.Sum(nil))
}

// distinct returns gaps sorted and without duplicates. Messages are not compared: a server
// words the same failure differently each time.
func distinct(gaps []snapshot.Gap) []snapshot.Gap {
	out := append([]snapshot.Gap{}, gaps...)
	sort.Slice(out, func(i, j int) bool { return out[i].Compare(out[j]) < 0 })
	return slices.CompactFunc(out, func(a, b snapshot.Gap) bool {
		a.Message, b.Message = "", ""
		return a == b
	})
}

// dropFunc reports whether the canonical form leaves out a field. The fields of the
// outermost object are at depth 1.
type dropFunc func(depth int, key string) bool

// canonical returns a valid JSON document in canonical form: without white space, each
// string with the fewest escapes, the keys in the order of the document, and without the
// fields that drop reports. Two documents with the same content have the same canonical
// form, whichever program wrote them and however they are indented.
func canonical(data []byte, drop dropFunc) []byte {
	return (&canonicalizer{drop: drop}).rewrite(data, 1)
}

// canonicalizer rewrites valid JSON values.
type canonicalizer struct {
	drop dropFunc
	data []byte
	at   int
	out  []byte
}

// rewrite returns the canonical form of a value at a depth. The result is valid until the
// next call.
func (c *canonicalizer) rewrite(data []byte, depth int) []byte {
	c.data, c.at, c.out = data, 0, c.out[:0]
	c.value(depth)
	return c.out
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
		c.text()
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
	key := string(c.text())
	c.out = append(c.out, ':')
	c.next() // the colon
	c.at++
	c.value(depth + 1)
	return !c.drop(depth, key)
}

// text rewrites the string that begins here and returns its content.
func (c *canonicalizer) text() []byte {
	begin := c.at
	c.at++
	for ; c.data[c.at] != '"'; c.at++ {
		if c.data[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
	quoted := c.data[begin:c.at]
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		c.out = append(c.out, quoted...)
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("a string of a valid JSON document: " + err.Error())
	}
	c.out = appendString(c.out, text)
	return []byte(text)
}

func appendString(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, b := range []byte(text) {
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
