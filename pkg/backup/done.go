package backup

import (
	"encoding/json"
	"fmt"
)

// Done notes how a step ended. The line is with the system when Done returns, so
// that a kill does not lose it; it is durable after Finish or Close. Once a line could
// not be written nothing more is noted, and Done answers the same error.
func (f *Folder) Done(r Result) error {
	line, err := json.Marshal(r)
	switch {
	case err != nil:
	case len(line) > limit:
		err = fmt.Errorf("%d bytes are more than the %d that a backup takes", len(line), limit)
	default:
		err = r.check()
	}
	if err != nil {
		return f.failed("note a step in", doneFile, err)
	}
	f.log.Lock()
	defer f.log.Unlock()
	if f.logErr != nil {
		return f.logErr
	}
	if _, err := f.done.Write(append(line, '\n')); err != nil {
		f.logErr = f.failed("note a step in", doneFile, err)
	}
	return f.logErr
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
