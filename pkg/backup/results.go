package backup

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// AddResult records how a step ended. The operating system has the line when the
// method returns, so a kill does not lose it; it is durable after Finish or Close. Once
// a line could not be written, nothing more is recorded, and every call returns the
// same error.
func (f *Folder) AddResult(r Result) error {
	line, err := encodeLine(r)
	if err != nil {
		return f.fileError("record a step in", doneFile, err)
	}
	f.resultsMu.Lock()
	defer f.resultsMu.Unlock()
	if f.resultsErr != nil {
		return f.resultsErr
	}
	if _, err := f.results.Write(line); err != nil {
		f.resultsErr = f.fileError("record a step in", doneFile, err)
	}
	return f.resultsErr
}

func (f *Folder) syncResults() error {
	f.resultsMu.Lock()
	defer f.resultsMu.Unlock()
	if f.resultsErr != nil {
		return f.resultsErr
	}
	if err := f.results.Sync(); err != nil {
		f.resultsErr = f.fileError("sync", doneFile, err)
	}
	return f.resultsErr
}

// encodeLine encodes a record as a line that Open accepts.
func encodeLine(record interface{ validate() error }) ([]byte, error) {
	line, err := encode(record)
	switch {
	case err != nil:
		return nil, err
	case len(line) > maxLine:
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(line), maxLine)
	}
	return append(line, '\n'), record.validate()
}

// encode is json.Marshal that also escapes every character which controls a terminal
// or hides text, because people read these files.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return escape.JSON(data), err
}
