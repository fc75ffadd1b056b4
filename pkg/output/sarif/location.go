package sarif

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// locationOf places an object: logically by namespace/Kind/name, and, since
// scanners ask for a file and line, at the first line of a file so called. Of
// several clusters, that of the object stands before both.
func locationOf(cluster string, o object.Identity) location {
	name := o.String()
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	if cluster != "" {
		name = cluster + "/" + name
	}
	return location{
		PhysicalLocation: physicalLocation{ArtifactLocation: artifactLocation{URI: pathOf(cluster, o)}, Region: region{StartLine: 1}},
		LogicalLocations: []logicalLocation{{
			Name: escape.Short(o.Name, longest), FullyQualifiedName: escape.Short(name, longest), Kind: "resource",
		}},
	}
}

// clusterScoped stands where a namespace would: no namespace can have this name.
const clusterScoped = "_cluster"

// pathOf is a relative URI of exactly three segments that lead nowhere else, or of
// four where there is a cluster.
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
		if s = url.PathEscape(escape.Short(s, longest)); s == "" || s == "." || s == ".." {
			s = "_" + s
		}
		// A colon in the first segment would make a scheme of it.
		segments = append(segments, strings.ReplaceAll(s, ":", "%3A"))
	}
	return strings.Join(segments, "/")
}
