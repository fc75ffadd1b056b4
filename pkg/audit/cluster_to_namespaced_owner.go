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
		return s.mended(i,
			fmt.Sprintf("%s is namespaced, this is not", r),
			fmt.Sprintf("this object is cluster-scoped and names the namespaced %s as its owner%s; since 1.20 the collector never acts on such an object", r, where))
	}),
}
