package browser

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the program of this repository into a folder, without the commit as its version. root
// is the root of the repository.
func Build(root, folder string) (program string, err error) {
	program = filepath.Join(folder, "kubectl-gc")
	cmd := exec.Command("go", "build", "-C", root, "-buildvcs=false", "-o", program, "./cmd/kubectl-gc")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kubectl-gc: %w\n%s", err, said)
	}
	return program, nil
}

// Report writes the page for a snapshot.
func Report(program, snapshot, page string, flags ...string) error {
	program, errProgram := filepath.Abs(program)
	page, errPage := filepath.Abs(page)
	if err := errors.Join(errProgram, errPage); err != nil {
		return err
	}
	// The commands on the page name the file as it was given.
	c := exec.Command(program, append([]string{"report", "--from", filepath.Base(snapshot), "-o", page}, flags...)...)
	c.Dir = filepath.Dir(snapshot)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("write the report: %w\n%s", err, said)
	}
	return nil
}
