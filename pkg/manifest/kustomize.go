package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// kustomize reads the objects of a kustomization in the order in which kubectl applies
// them.
func kustomize(ctx context.Context, folder string, into *[]Named) error {
	disk := &boundedDisk{FileSystem: filesys.MakeFsOnDisk(), ctx: ctx, bytes: maxBytes, files: maxFiles}
	text, err := disk.kustomize(folder)
	if err != nil {
		return redact.Error(err, folder)
	}
	return decode(bytes.NewReader(text), redact.Text(folder), into)
}

func (d *boundedDisk) kustomize(folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	resources, err := krusty.MakeKustomizer(options).Run(d, folder)
	if d.refused != nil { // kustomize replaces this error by another one
		return nil, d.refused
	}
	if err != nil {
		return nil, err
	}
	return resources.AsYaml()
}

// maxFiles limits how many files one kustomization reads. kustomize reads a folder
// again for each reference to it: 30 levels with two references each come to a billion
// reads.
const maxFiles = 10_000

// boundedDisk limits how much one kustomization reads, and rejects documents whose
// aliases expand too far.
type boundedDisk struct {
	filesys.FileSystem
	ctx     context.Context // kustomize does not pass one on
	bytes   int64           // that may still be read
	files   int             // that may still be read
	refused error           // the first error of a limit
}

// ReadFile is the only method by which kustomize reads. Errors of the file system are
// not recorded: kustomize tries several names, and reads folders as files.
func (d *boundedDisk) ReadFile(name string) ([]byte, error) {
	if d.refused == nil {
		d.refused = d.ctx.Err()
	}
	if d.refused != nil {
		return nil, d.refused
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	text, err := input.ReadAll(f, d.bytes)
	if err != nil && !errors.As(err, new(*input.TooLongError)) {
		return nil, err
	}
	if err := d.checkLimits(text, err != nil); err != nil {
		d.refused = fmt.Errorf("error reading %s: %w", name, err)
	}
	return text, d.refused
}

// checkLimits counts a text and returns which limit it exceeds, or nil.
func (d *boundedDisk) checkLimits(text []byte, tooLong bool) error {
	d.bytes -= int64(len(text))
	d.files--
	switch {
	case tooLong:
		return errors.New("with all that the kustomization reads before, it is longer than what is read")
	case d.files < 0:
		return errors.New("the kustomization has read too many files before: its folders may name one another again and again")
	}
	for document := range input.SplitYAML(text) {
		// A file of a generator need not be YAML; for others kustomize reports an error.
		if err := input.CheckAliases(document); errors.Is(err, input.ErrAliases) {
			return err
		}
	}
	return nil
}
