package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	node "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// How far aliases may expand a document: to so many bytes whatever it is, and beyond
// them to so many times its length.
const (
	expandedAnyway = 4 << 20
	expandedTimes  = 10
)

// ErrAliases says that the aliases of a document stand for more than a person writes.
var ErrAliases = errors.New("its aliases (*name) stand for too much text: write it without them")

// Documents are those of a YAML text, parted as kubectl parts them. One that is empty
// is left out.
func Documents(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for d := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---")) {
			if len(bytes.TrimSpace(d)) > 0 && !yield(d) {
				return
			}
		}
	}
}

// JSON is a YAML document as JSON.
func JSON(document []byte) ([]byte, error) {
	if err := Bounded(document); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(document)
}

// Bounded refuses a YAML document that its aliases expand beyond measure. The YAML
// library bounds how many values they stand for, and not how long those are.
func Bounded(document []byte) error {
	if bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0 || isJSON(document) {
		return nil
	}
	var root node.Node
	if err := node.Unmarshal(document, &root); err != nil {
		return fmt.Errorf("malformed YAML: %w", err)
	}
	most := max(int64(expandedAnyway), expandedTimes*int64(len(document)))
	if (&measure{of: map[*node.Node]int64{}, most: most}).length(&root) > most {
		return ErrAliases
	}
	return nil
}

// isJSON says whether there is nothing but JSON documents, which have no aliases.
func isJSON(text []byte) bool {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var document json.RawMessage
		if err := d.Decode(&document); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// measure finds out how long nodes are with their aliases resolved, up to a bit more
// than most: what is longer need not be known exactly.
type measure struct {
	of   map[*node.Node]int64 // of what has an anchor; most+1 while it is being measured
	most int64
}

func (m *measure) length(n *node.Node) int64 {
	if n.Kind == node.AliasNode {
		n = n.Alias
	}
	if n.Anchor != "" {
		if known, ok := m.of[n]; ok {
			return known
		}
		m.of[n] = m.most + 1 // within itself it has no end
	}
	length := int64(len(n.Value)) + 1
	for _, within := range n.Content {
		if length > m.most {
			break
		}
		length += m.length(within)
	}
	if n.Anchor != "" {
		m.of[n] = length
	}
	return length
}
