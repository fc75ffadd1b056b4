package audit

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// checkWithout reads --without, and returns an error if it cannot work.
func (f *auditFlags) checkWithout() error {
	for _, v := range f.without {
		gv, err := schema.ParseGroupVersion(v)
		if err != nil || gv.Version == "" {
			return cli.WithHint(cli.Usagef("--without %s is not an API version", cli.Quote(v)), "use GROUP/VERSION, such as apps/v1beta1, or v1 for the core group")
		}
		f.removed = append(f.removed, gv)
	}
	switch {
	case len(f.without) > 0 && f.settle > 0:
		return cli.Usagef("--without cannot be combined with --settle: the garbage collector acts on the cluster as it is")
	case len(f.without) > 0 && f.contexts.Given():
		return cli.Usagef("--without cannot be combined with --contexts")
	}
	return nil
}

// withoutVersions returns the snapshot as if the versions of --without were not served.
func (f *auditFlags) withoutVersions(seen *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	if len(f.removed) == 0 {
		return seen, nil
	}
	for i, gv := range f.removed {
		if !slices.ContainsFunc(seen.Types, func(t snapshot.Type) bool { return t.Group == gv.Group && t.Version == gv.Version }) {
			var served []string
			for _, t := range seen.Types {
				served = append(served, t.APIVersion())
			}
			return nil, cli.Usagef("--without %s: the API server does not serve this version%s", cli.Quote(f.without[i]), cli.DidYouMean(cli.Nearest(f.without[i], served)))
		}
	}
	return seen.WithoutVersions(f.removed...), nil
}
