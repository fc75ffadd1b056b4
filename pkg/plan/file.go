package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

// The apiVersion and kind of a saved plan. Another apiVersion in a file means
// another version of this program.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Plan"
)

// maxPlanBytes limits what is read of a plan; it is enough for about a million steps.
const maxPlanBytes = 1 << 30

// Save writes the plan as one indented JSON document, the same that -o json prints.
func (p *Plan) Save(w io.Writer) error {
	data, err := p.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s`, APIVersion, Kind, data[1:]), "", "    "); err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}

// Load reads what Save wrote. It refuses a plan that was changed: the checksum and the digest
// must match the file as stored, so that a plan of another version loads if this version
// knows its fields and reasons. Fields that the plan calls informational may be unknown. An
// error is one line that does not name the file.
func Load(r io.Reader) (*Plan, error) {
	data, err := input.ReadAll(r, maxPlanBytes)
	if err != nil {
		return nil, err
	}
	var head struct {
		APIVersion    string   `json:"apiVersion"`
		Kind          string   `json:"kind"`
		Informational []string `json:"informational"`
	}
	err = json.Unmarshal(data, &head)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty")
	case head.Kind != "" && head.Kind != Kind:
		return nil, fmt.Errorf("it holds a %q, not a plan", head.Kind)
	case head.APIVersion != "" && head.APIVersion != APIVersion:
		return nil, fmt.Errorf("the plan has format %q, which this version of the program does not read (%s): make a new one", head.APIVersion, APIVersion)
	case err != nil:
		return nil, fmt.Errorf("not a plan: %w", err)
	case head.Kind == "":
		return nil, errors.New("not a plan: no apiVersion or kind")
	}
	known := canonical(data, func(_ int, key string) bool { return slices.Contains(head.Informational, key) })
	var f struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		stored
	}
	d := json.NewDecoder(bytes.NewReader(known))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("this version of the program cannot read the plan: %w: make a new one", err)
	}
	p, err := f.load()
	switch {
	case err != nil:
		return nil, fmt.Errorf("this version of the program cannot read the plan: %w: make a new one", err)
	case f.Checksum != checksum(data) || f.Digest != digest(data):
		return nil, errors.New("the plan was changed after it was made: its checksum or digest is not that of its content")
	}
	return p, nil
}
