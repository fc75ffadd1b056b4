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

// kustomize reads what a kustomization makes, in the order in which kubectl applies it.
func kustomize(ctx context.Context, folder string, into *[]Named) error {
	disk := &boundedDisk{FileSystem: filesys.MakeFsOnDisk(), ctx: ctx, bytes: longest, files: mostFiles}
	text, err := disk.kustomize(folder)
	if err != nil {
		return redact.Error(err, folder)
	}
	return decode(bytes.NewReader(text), redact.Text(folder), into)
}

func (d *boundedDisk) kustomize(folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	made, err := krusty.MakeKustomizer(options).Run(d, folder)
	if d.refused != nil { // what kustomize makes of it says something else, such as that there is no such file
		return nil, d.refused
	}
	if err != nil {
		return nil, err
	}
	return made.AsYaml()
}

// mostFiles is how many are read for one kustomization. A folder is read anew each
// time that another one names it: thirty that each name the one below twice come to
// a billion.
const mostFiles = 10_000

// boundedDisk is a disk of which one kustomization reads no more than it may, and
// no document that its aliases expand beyond measure.
type boundedDisk struct {
	filesys.FileSystem
	ctx     context.Context // kustomize has none to pass on
	bytes   int64           // that may yet be read
	files   int             // the same
	refused error           // the first one
}

// ReadFile is the only way in which kustomize reads. What it is refused for other
// reasons than ours is its own affair: it tries names, and reads folders as files.
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
	text, err := input.Bytes(f, d.bytes)
	if err != nil && !errors.As(err, new(*input.TooLongError)) {
		return nil, err
	}
	if why := d.refuses(text, err != nil); why != nil {
		d.refused = fmt.Errorf("error reading %s: %w", name, why)
	}
	return text, d.refused
}

// refuses says why a text is one too many, and counts it.
func (d *boundedDisk) refuses(text []byte, long bool) error {
	d.bytes -= int64(len(text))
	d.files--
	switch {
	case long:
		return errors.New("with all that the kustomization reads before, it is longer than what is read")
	case d.files < 0:
		return errors.New("the kustomization has read too many files before: its folders may name one another again and again")
	}
	for document := range input.Documents(text) {
		// What is no YAML may be a generator's, or kustomize says so itself.
		if err := input.Bounded(document); errors.Is(err, input.ErrAliases) {
			return err
		}
	}
	return nil
}
