package sarif

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// locationOf returns the location of an object: the logical one is namespace/Kind/name; as
// scanners require a file and a line, the physical one is the first line of a file of that
// name. With several clusters, the cluster comes first.
func locationOf(cluster string, o object.Identity) location {
	name := o.String()
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	if cluster != "" {
		name = cluster + "/" + name
	}
	var out location
	out.PhysicalLocation.ArtifactLocation.URI = pathOf(cluster, o)
	out.PhysicalLocation.Region.StartLine = 1
	out.LogicalLocations = []logicalLocation{{
		Name: escape.Short(o.Name, maxText), FullyQualifiedName: escape.Short(name, maxText), Kind: "resource",
	}}
	return out
}

// clusterScoped replaces the namespace. No namespace can have this name.
const clusterScoped = "_cluster"

// pathOf returns a relative URI of exactly three segments, or four with a cluster.
func pathOf(cluster string, o object.Identity) string {
	namespace := o.Namespace
	if namespace == "" {
		namespace = clusterScoped
	}
	names := []string{namespace, o.Kind, o.Name}
	if cluster != "" {
		names = slices.Insert(names, 0, cluster)
	}
	var segments []string
	for _, s := range names {
		if s = url.PathEscape(escape.Short(s, maxText)); s == "" || s == "." || s == ".." {
			s = "_" + s
		}
		// A colon would make the first segment a scheme.
		segments = append(segments, strings.ReplaceAll(s, ":", "%3A"))
	}
	return strings.Join(segments, "/")
}
