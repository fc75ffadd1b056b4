// Package schema checks what -o json writes against the JSON Schemas of docs/schemas.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Check returns an error if a document in the output of a command does not match the schema of its
// kind in a folder, or if there is none. It ignores output that is no document.
func Check(folder string, output []byte) error {
	for values := json.NewDecoder(bytes.NewReader(output)); ; {
		var value json.RawMessage
		var head struct{ APIVersion, Kind string }
		if values.Decode(&value) != nil {
			return nil
		}
		if json.Unmarshal(value, &head) != nil || head.APIVersion != "kubectl-gc.dev/v1alpha1" {
			continue
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat() // dates
		s, err := compiler.Compile(filepath.Join(folder, filepath.Base(head.Kind)+".json"))
		if err != nil {
			return fmt.Errorf("no valid schema for a document of kind %q: add it to test/reference/schemas.go: %w", head.Kind, err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err != nil {
			return err
		}
		if err := s.Validate(document); err != nil {
			return fmt.Errorf("a document of kind %s does not match its schema: %w", head.Kind, err)
		}
	}
}
