package manifest

import (
	"bytes"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// kustomize reads the objects of a kustomization in the order in which kubectl applies
// them.
func kustomize(folder string, into *[]Named) error {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return redact.Error(err, folder)
	}
	text, err := resources.AsYaml()
	if err != nil {
		return redact.Error(err, folder)
	}
	return decode(bytes.NewReader(text), redact.Text(folder), into)
}
