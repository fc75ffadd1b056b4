package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	node "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// Aliases may expand a document to minExpanded bytes, or to maxExpansion times its
// length if that is more.
const (
	minExpanded  = 4 << 20
	maxExpansion = 10
)

// ErrAliases reports that the aliases of a document expand too far.
var ErrAliases = errors.New("its aliases (*name) stand for too much text: write it without them")

// SplitYAML returns the documents of a YAML text, split as kubectl does, without empty
// ones.
func SplitYAML(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for d := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---")) {
			if len(bytes.TrimSpace(d)) > 0 && !yield(d) {
				return
			}
		}
	}
}

// YAMLToJSON converts a YAML document to JSON.
func YAMLToJSON(document []byte) ([]byte, error) {
	if err := CheckAliases(document); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(document)
}

// CheckAliases returns ErrAliases if the aliases of a YAML document expand too far. The YAML
// library limits the number of values that they stand for, but not their length.
func CheckAliases(document []byte) error {
	if bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0 || isJSON(document) {
		return nil
	}
	var root node.Node
	if err := node.Unmarshal(document, &root); err != nil {
		return fmt.Errorf("malformed YAML: %w", err)
	}
	if left := max(minExpanded, maxExpansion*len(document)); !fits(&root, &left, 0) {
		return ErrAliases
	}
	return nil
}

// isJSON reports whether a text contains only JSON documents, which have no aliases.
func isJSON(text []byte) bool {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var document json.RawMessage
		if err := d.Decode(&document); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// maxDepth is deeper than any document nests. A node that contains itself has no end.
const maxDepth = 10_000

// fits takes the length of a node, with its aliases resolved, from what is left, and reports whether
// that was enough.
func fits(n *node.Node, left *int, depth int) bool {
	if n.Kind == node.AliasNode {
		n = n.Alias
	}
	*left -= len(n.Value) + 1
	return *left >= 0 && depth < maxDepth && !slices.ContainsFunc(n.Content, func(child *node.Node) bool { return !fits(child, left, depth+1) })
}
