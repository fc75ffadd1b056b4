package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

// The apiVersion and kind of a saved plan. Another apiVersion in a file means
// another version of this program.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Plan"
)

// longest is how many bytes are read of a plan: about a million steps.
const longest = 1 << 30

type file struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	*Plan      `json:",inline"`
}

// Save writes the plan as one JSON document, the same that -o json prints.
func (p *Plan) Save(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "    ")
	if err := e.Encode(file{APIVersion, Kind, p}); err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	return nil
}

// Load reads what Save wrote. It refuses a plan that was changed since: its
// digest must be that of its steps. Errors are one line and say what is wrong
// with the file, not which file.
func Load(r io.Reader) (*Plan, error) {
	data, err := input.Bytes(r, longest)
	if err != nil {
		return nil, err
	}
	var f file
	switch err := strict(data, &f); {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty")
	case f.Kind != "" && f.Kind != Kind:
		return nil, fmt.Errorf("it holds a %q, not a plan", f.Kind)
	case f.APIVersion != "" && f.APIVersion != APIVersion:
		return nil, fmt.Errorf("the plan has format %q, which this version of the program does not read (%s): make a new one", f.APIVersion, APIVersion)
	case err != nil:
		return nil, fmt.Errorf("not a plan: %w", err)
	case f.Kind == "" || f.Plan == nil:
		return nil, errors.New("not a plan: no apiVersion or kind")
	}
	if f.Digest != digest(f.Plan) {
		return nil, errors.New("the plan was changed after it was made: its digest is not that of its steps")
	}
	return f.Plan, nil
}

func strict(data []byte, into *file) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one document")
	}
	return nil
}
