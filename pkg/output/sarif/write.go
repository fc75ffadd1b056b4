// Package sarif writes an audit as a SARIF 2.1.0 log. Equal reports give equal logs: there
// is no time and no random ID. All rules are described. Text from the cluster is escaped
// and can form neither a link nor a placeholder. The log uses structs of its own, as the
// library for SARIF brings a JSON schema engine; the tests use it.
package sarif

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	repository = "https://github.com/kubectl-gc/kubectl-gc"
	schema     = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// Write writes the report. rules are the rules that it may name. version is that of this
// program; it may be empty.
func Write(w io.Writer, r *audit.Report, rules []audit.Rule, version string) error {
	document := log{Schema: schema, Version: "2.1.0"}
	run := &document.Runs[0]
	driver := &run.Tool.Driver
	driver.Name, driver.Version, driver.InformationURI, driver.Rules = "kubectl-gc", version, repository, descriptors(rules)
	run.Invocations[0] = invoked(r.Gaps)
	run.Results = []result{}
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.ID] = i
	}
	for _, f := range r.Findings {
		i, known := index[f.Rule]
		if !known {
			return fmt.Errorf("describe finding: no rule %q", f.Rule)
		}
		run.Results = append(run.Results, resultOf(f, i))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("encode SARIF: %w", err)
	}
	_, err := w.Write(escape.JSON(out.Bytes()))
	return err
}

func descriptors(rules []audit.Rule) []descriptor {
	out := []descriptor{}
	for _, r := range rules {
		out = append(out, descriptor{
			ID: r.ID, ShortDescription: message{r.Summary}, FullDescription: message{r.Summary},
			Help: message{r.Summary + " See " + r.Page()}, HelpURI: r.Page(),
		})
	}
	return out
}

// invoked returns a successful invocation even if there are gaps: they are warnings.
func invoked(gaps []snapshot.Gap) invocation {
	i := invocation{ExecutionSuccessful: true}
	for _, g := range gaps {
		text := fmt.Sprintf("could not read %s (%s), so objects that they own were not checked", g, g.Why())
		if g.Message != "" {
			text += ": " + g.Message
		}
		i.ToolExecutionNotifications = append(i.ToolExecutionNotifications, notification{Level: "warning", Message: messageOf(text)})
	}
	return i
}

func resultOf(f audit.Finding, rule int) result {
	out := result{
		RuleID: f.Rule, RuleIndex: rule, Level: levelOf(f.Severity),
		Message:             messageOf(f.Object.String() + ": " + f.Message()),
		Locations:           []location{locationOf(f.Cluster, f.Object)},
		PartialFingerprints: fingerprints(f),
		Properties: properties{
			Cluster: f.Cluster, APIVersion: f.Object.APIVersion, UID: string(f.Object.UID),
			Verdict: string(f.Verdict), Consequence: string(f.Consequence), Fix: string(f.Fix),
		},
	}
	for _, m := range f.Members {
		if m != f.Object {
			out.RelatedLocations = append(out.RelatedLocations, locationOf(f.Cluster, m))
		}
	}
	return out
}

// levelOf returns the level of a severity: the same word, except for an info.
func levelOf(s audit.Severity) string {
	if s == audit.Info {
		return "note"
	}
	return string(s)
}

// maxText limits a message: scanners cut or refuse longer ones.
const maxText = 2000

// messageOf returns a message that shows text as it is: braces would be placeholders
// (SARIF 3.11.5), and "](" could be a link (3.11.6).
func messageOf(text string) message {
	return message{strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(escape.Short(text, maxText))}
}

// fingerprints identify a finding in a later run. The first key is this tool's own.
// Scanners that would otherwise hash lines of the file use the second.
func fingerprints(f audit.Finding) map[string]string {
	about := []string{f.Rule, string(f.Object.UID), ""}
	if f.Reference != nil {
		about[2] = string(f.Reference.UID)
	}
	if f.Cluster != "" { // that of one cluster has been without it
		about = append(about, f.Cluster)
	}
	sum := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	mark := hex.EncodeToString(sum[:16])
	return map[string]string{"ruleObjectOwner/v1": mark, "primaryLocationLineHash": mark}
}

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
	logical := &out.LogicalLocations[0]
	logical.Name, logical.FullyQualifiedName, logical.Kind = escape.Short(o.Name, maxText), escape.Short(name, maxText), "resource"
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
