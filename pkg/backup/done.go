package backup

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Done notes how a step ended. The line is with the system when Done returns, so
// that a kill does not lose it; it is durable after Finish or Close. Once a line could
// not be written nothing more is noted, and Done answers the same error.
func (f *Folder) Done(r Result) error {
	line, err := lineOf(r)
	if err != nil {
		return f.failed("note a step in", doneFile, err)
	}
	f.log.Lock()
	defer f.log.Unlock()
	if f.logErr != nil {
		return f.logErr
	}
	if _, err := f.done.Write(line); err != nil {
		f.logErr = f.failed("note a step in", doneFile, err)
	}
	return f.logErr
}

// lineOf encodes what is noted as a line, which a reader will take.
func lineOf(noted interface{ check() error }) ([]byte, error) {
	line, err := encode(noted)
	switch {
	case err != nil:
		return nil, err
	case len(line) > limit:
		return nil, fmt.Errorf("%d bytes are more than the %d that a backup takes", len(line), limit)
	}
	return append(line, '\n'), noted.check()
}

// encode is json.Marshal, with escapes for every character that acts on a terminal or
// hides something: people read these files.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return escape.JSON(data), err
}

func (f *Folder) syncDone() error {
	f.log.Lock()
	defer f.log.Unlock()
	if f.logErr != nil {
		return f.logErr
	}
	if err := f.done.Sync(); err != nil {
		f.logErr = f.failed("sync", doneFile, err)
	}
	return f.logErr
}
