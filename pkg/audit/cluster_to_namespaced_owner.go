package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var clusterToNamespacedOwner = Rule{
	ID:      "cluster-to-namespaced-owner",
	Summary: "A cluster-scoped object names an owner of a namespaced kind, which it can never have.",
	find: eachCause(collector.ClusterToNamespaced, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		where := ""
		if holder := s.judgements[i].Holder; holder != nil && holder.Namespace != "" {
			where = ", which lives in " + holder.Namespace
		}
		return s.on(i,
			fmt.Sprintf("%s is of a namespaced kind", r),
			fmt.Sprintf("this object is cluster-scoped and names the namespaced %s as its owner%s; since 1.20 the collector drops such an object from its work", r, where),
			Unlink)
	}),
}
