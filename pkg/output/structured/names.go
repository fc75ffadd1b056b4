package structured

import (
	"bytes"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Names writes objects as kubectl -o name does: kind.group/name, the kind in lower case,
// without the core group. Repeated lines are written once.
func Names(w io.Writer, objects []object.Identity) error {
	var out bytes.Buffer
	written := map[string]bool{}
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		line := strings.ToLower(gvk.Kind)
		if gvk.Group != "" {
			line += "." + gvk.Group
		}
		line = escape.Terminal(line + "/" + o.Name)
		if !written[line] {
			written[line] = true
			out.WriteString(line + "\n")
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}
