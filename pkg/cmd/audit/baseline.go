package audit

import (
	"errors"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// readBaseline reads the report of --baseline. It returns nil without that flag.
func (f *auditFlags) readBaseline() (*audit.Baseline, error) {
	if !f.changed("baseline") {
		return nil, nil
	}
	file, err := os.Open(f.baseline)
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	defer file.Close()
	document, err := input.ReadAll(input.DecodeBOM(file), f.scan.MaxFileBytes())
	if err != nil {
		return nil, cli.WithFileHint(fmt.Errorf("read the baseline %s: %w", escape.Short(f.baseline, 200), err))
	}
	known, err := audit.ParseBaseline(document, structured.APIVersion)
	if err != nil {
		err = fmt.Errorf("read the baseline %s: %w", escape.Short(f.baseline, 200), err)
		if errors.Is(err, audit.ErrPartialBaseline) {
			return nil, cli.WithCommandHint(err, "write a baseline without --baseline", "audit", "-o", "json")
		}
	}
	return known, err
}
