package terminating

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// announcedGroups returns the names of all APIServices, and the API groups of CustomResourceDefinitions.
func announcedGroups(g *graph.Graph) (services []string, defined map[string]bool) {
	defined = map[string]bool{}
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		switch {
		case o.Kind == "APIService" && o.GroupVersionKind().Group == "apiregistration.k8s.io":
			services = append(services, o.Name)
		case o.IsCRD():
			_, group, _ := strings.Cut(o.Name, ".")
			defined[group] = true
		}
	}
	return services, defined
}

// NamespaceDiagnosis is what keeps one terminating Namespace.
type NamespaceDiagnosis struct {
	Causes     []NamespaceCause           // the one to repair first comes first; never empty
	Conditions []reason.ReportedCondition // those that are true; empty if they were not read
	// Consequence is ConsequenceStuck if the namespace controller fails until somebody repairs the
	// cause, ConsequenceNone if it waits, and ConsequenceUnknown if it is unknown what keeps it.
	Consequence collector.Consequence
	// Held is the first of the contents that finalizers of others hold; nil if there is none.
	Held *object.Identity
	// Undeleted are contents that are not being deleted although their turn has come, Unlistable
	// the types whose contents this scan could not list, APIServices those of groups that
	// cannot be discovered.
	Undeleted   []graph.Node
	Unlistable  []snapshot.Gap
	APIServices []APIService
}

// NamespaceCause is one thing that keeps a Namespace.
type NamespaceCause struct {
	Kind   NamespaceCauseKind
	Reason *reason.Reason // said of the Namespace
	// Finalizers are those of others that hold the Namespace or what it contains, the most frequent first.
	Finalizers []Finalizer
	Outdated   bool // it seems to be over, although the namespace controller reports it
}

// NamespaceCauseKind is what a cause is about.
type NamespaceCauseKind int

// The kinds of causes, in the order in which they are given: what is known comes before what is not.
const (
	CauseDiscovery        NamespaceCauseKind = iota // an API group cannot be discovered
	CauseVersionParsing                             // the version of an API group cannot be parsed
	CauseDeletionFails                              // contents cannot be deleted
	CauseSpecFinalizers                             // finalizers in the spec
	CauseFinalizers                                 // finalizers in the metadata
	CauseContentsLeft                               // contents
	CauseContentsUnread                             // contents may exist that could not be listed
	CauseConditionsUnread                           // the conditions were not read
	CauseNothing                                    // nothing that was read
)

// APIService is an APIService of a group that cannot be discovered.
type APIService struct {
	Name string
	// Aggregated reports that another server than Kubernetes' own serves the group. Only such an
	// APIService may be deleted.
	Aggregated bool
}

// namespaceDiagnosis collects the causes.
type namespaceDiagnosis struct {
	found     NamespaceDiagnosis // so far
	of        *Diagnoser
	namespace *object.Object
	status    object.NamespaceStatus // empty if it was not read
	contents  []graph.Node
	unread    []snapshot.Gap // that may hide contents
	fails     bool           // the namespace controller fails until somebody repairs the cause
	held      bool           // the Namespace or its contents wait for something
	outdated  bool           // what the namespace controller reports seems to be over
}

// diagnose returns what keeps a terminating Namespace.
func (d *Diagnoser) diagnose(n graph.Node) NamespaceDiagnosis {
	o := d.graph.Object(n)
	out := &namespaceDiagnosis{of: d, namespace: o, contents: d.model.ContentsOf(n), unread: d.graph.View().ContentsGaps(o.Identity, nil)}
	if o.NamespaceStatus != nil {
		out.status = *o.NamespaceStatus
	}
	for _, c := range out.status.True() {
		out.found.Conditions = append(out.found.Conditions, reason.ReportedCondition{Type: c.Type, Message: c.Message})
	}
	if out.status.Finalized {
		out.contents, out.unread = nil, nil
	} else {
		out.discovery(n)
		if out.status.Is(object.GroupVersionFailure) {
			out.fails = true
			out.add(NamespaceCause{Kind: CauseVersionParsing, Reason: reason.VersionParsingFails})
		}
		out.deletion()
	}
	out.finalizers()
	out.contentsLeft()
	out.unknown()
	slices.SortStableFunc(out.found.Causes, func(a, b NamespaceCause) int {
		switch {
		case a.Outdated && !b.Outdated:
			return 1
		case b.Outdated && !a.Outdated:
			return -1
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	switch {
	case out.fails:
		out.found.Consequence = collector.ConsequenceStuck
	case out.held:
		out.found.Consequence = collector.ConsequenceNone
	default:
		out.found.Consequence = collector.ConsequenceUnknown
	}
	return out.found
}

func (d *namespaceDiagnosis) add(c NamespaceCause) { d.found.Causes = append(d.found.Causes, c) }

// discovery adds that API groups cannot be discovered. What the namespace controller reports may
// be outdated; what only this scan noticed may be over before that controller tries again.
func (d *namespaceDiagnosis) discovery(n graph.Node) {
	groups, certain := d.of.model.FinalizationGaps(n)
	switch {
	case d.status.Is(object.DiscoveryFailure):
		all := d.of.graph.Snapshot().Gaps
		groups = slices.DeleteFunc(slices.Clone(all), func(g snapshot.Gap) bool { return !ofGroup(g) || g.Group == snapshot.All })
		found := reason.DiscoveryFails{Gaps: snapshot.Parameters(groups), Outdated: !slices.ContainsFunc(all, ofGroup)}
		if !found.Outdated {
			d.found.APIServices = d.servicesOf(groups)
		}
		found.APIServices = []string{}
		for _, s := range d.found.APIServices {
			found.APIServices = append(found.APIServices, s.Name)
		}
		d.fails, d.outdated = d.fails || !found.Outdated, d.outdated || found.Outdated
		d.add(NamespaceCause{Kind: CauseDiscovery, Reason: reason.Of(found), Outdated: found.Outdated})
	case certain:
		d.held = true
		d.found.APIServices = d.servicesOf(groups)
		d.add(NamespaceCause{Kind: CauseDiscovery, Reason: snapshot.NotFinalized(groups, certain)})
	}
}

var versionName = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// ofGroup reports whether a gap is of a whole group, which discovery leaves.
func ofGroup(g snapshot.Gap) bool { return g.Resource == snapshot.All && g.Name == "" }

// servicesOf returns the APIServices of groups, sorted by name: those whose versions the namespace
// controller names, or else all. Without groups, it returns those that the controller names. Their names are
// version.group.
func (d *namespaceDiagnosis) servicesOf(groups []snapshot.Gap) []APIService {
	reported := map[string]bool{}
	var named, all []APIService
	for _, c := range d.found.Conditions {
		for _, word := range strings.Fields(c.Message) {
			group, version, _ := strings.Cut(strings.TrimRight(word, ":,"), "/")
			name := version + "." + group
			if c.Type != object.DiscoveryFailure || !versionName.MatchString(version) || !snapshot.ValidName(name) || reported[name] {
				continue
			}
			reported[name] = true
			if len(groups) == 0 {
				named = append(named, APIService{Name: name, Aggregated: d.of.aggregated(group)})
			}
		}
	}
	services, _ := d.of.announced()
	for _, name := range services {
		_, group, _ := strings.Cut(name, ".")
		if group == "" || !slices.ContainsFunc(groups, func(g snapshot.Gap) bool { return g.Group == group }) {
			continue
		}
		service := APIService{Name: name, Aggregated: d.of.aggregated(group)}
		all = append(all, service)
		if reported[name] {
			named = append(named, service)
		}
	}
	if len(named) > 0 {
		all = named
	}
	slices.SortFunc(all, func(a, b APIService) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// aggregated reports whether a group that cannot be discovered is certainly not one that the API
// server of Kubernetes serves: those have no dot or end with .k8s.io, where only the metrics have
// a server of their own, or have a CustomResourceDefinition.
func (d *Diagnoser) aggregated(group string) bool {
	metrics := group == "metrics.k8s.io" || strings.HasSuffix(group, ".metrics.k8s.io")
	builtIn := !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !metrics
	definitions := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	_, defined := d.announced()
	return !builtIn && !defined[group] && d.graph.View().Listed(definitions, "")
}

// deletion adds that contents cannot be deleted. That controller also reports a failure if objects
// that it has deleted are still there: these are among what is left.
func (d *namespaceDiagnosis) deletion() {
	for i, g := range d.unread {
		g, _ = g.In(d.namespace.Name)
		d.unread[i] = g
		switch g.Reason {
		case snapshot.Webhook, snapshot.StoreRead, snapshot.ServerError, snapshot.Unavailable, snapshot.TimedOut, snapshot.Throttled, snapshot.Unreadable:
			if g.Resource != snapshot.All {
				d.found.Unlistable = append(d.found.Unlistable, g)
			}
		default: // due to this user, to a file or to this scan
		}
	}
	d.found.Undeleted = d.undeleted()
	found := reason.ContentsDeletionFails{Gaps: snapshot.Parameters(d.found.Unlistable), Undeleted: d.byType(d.found.Undeleted), Outdated: len(d.contents)+len(d.unread) == 0}
	switch {
	case d.status.Is(object.ContentFailure) && !d.allDeleted():
		d.fails, d.outdated = d.fails || !found.Outdated, d.outdated || found.Outdated
		d.add(NamespaceCause{Kind: CauseDeletionFails, Reason: reason.Of(found), Outdated: found.Outdated})
	case len(d.unread) > 0:
		if types := slices.DeleteFunc(slices.Clone(d.unread), ofGroup); len(types) > 0 || len(d.found.Causes) == 0 {
			d.add(NamespaceCause{Kind: CauseContentsUnread, Reason: snapshot.NotFinalized(d.unread, false)})
		}
	}
}

// allDeleted reports whether all contents were deleted and are still there, which alone makes the
// namespace controller report a failure. What could not be read may be another reason, unless a
// Pod should have stopped.
func (d *namespaceDiagnosis) allDeleted() bool {
	switch {
	case len(d.contents) == 0 || len(d.found.Undeleted)+len(d.found.Unlistable) > 0:
		return false
	case len(d.unread) == 0:
		return true
	}
	return slices.ContainsFunc(d.contents, func(n graph.Node) bool { return d.of.model.Overdue(d.of.graph.Object(n)) })
}

// undeleted returns the contents that are not being deleted although their turn has come: since
// Kubernetes 1.33, that of other objects comes when no Pod is left that is being deleted.
func (d *namespaceDiagnosis) undeleted() []graph.Node {
	var pods, others []graph.Node
	stopping := false
	for _, n := range d.contents {
		switch o := d.of.graph.Object(n); {
		case !o.IsPod() && !o.Terminating():
			others = append(others, n)
		case o.IsPod() && o.Terminating():
			stopping = true
		case o.IsPod():
			pods = append(pods, n)
		}
	}
	if stopping && d.of.model.Judge().Behavior().OrderedNamespaceDeletion {
		return pods
	}
	return append(pods, others...)
}

// finalizers adds the finalizers of the Namespace itself.
func (d *namespaceDiagnosis) finalizers() {
	if by := d.status.Finalizers; len(by) > 0 {
		d.add(NamespaceCause{Kind: CauseSpecFinalizers, Reason: reason.HeldBySpecFinalizers(by), Finalizers: d.of.Finalizers(by, d.namespace.Identity)})
	}
	if by := d.namespace.ForeignFinalizers(); len(by) > 0 {
		d.add(NamespaceCause{Kind: CauseFinalizers, Reason: reason.Of(reason.HeldByFinalizers{Finalizers: by}), Finalizers: d.of.Finalizers(by, d.namespace.Identity)})
	}
	d.held = len(d.status.Finalizers)+len(d.namespace.Finalizers) > 0 || d.held
}

// contentsLeft adds what is left in the Namespace, unless a failure already names all of it.
func (d *namespaceDiagnosis) contentsLeft() {
	found := reason.ContentsLeft{Types: d.byType(d.contents), Finalizers: []reason.FinalizerCount{}}
	for _, n := range d.contents {
		o := d.of.graph.Object(n)
		for _, f := range o.ForeignFinalizers() {
			i := slices.IndexFunc(found.Finalizers, func(c reason.FinalizerCount) bool { return c.Finalizer == f })
			if i < 0 {
				i = len(found.Finalizers)
				found.Finalizers = append(found.Finalizers, reason.FinalizerCount{Finalizer: f, First: o.Identity})
			}
			count := &found.Finalizers[i]
			if count.Objects++; o.Compare(count.First) < 0 {
				count.First = o.Identity
			}
			if held := d.found.Held; held == nil || o.Compare(*held) < 0 {
				d.found.Held = &o.Identity
			}
		}
		d.held = d.held || len(o.ForeignFinalizers()) > 0 || o.InGracePeriod()
		if d.of.model.Overdue(o) {
			found.OverduePods++
		}
	}
	slices.SortFunc(found.Finalizers, func(a, b reason.FinalizerCount) int {
		return cmp.Or(b.Objects-a.Objects, strings.Compare(a.Finalizer, b.Finalizer))
	})
	named := d.fails && len(d.found.Undeleted) == len(d.contents) && len(found.Finalizers) == 0
	if len(d.contents) > 0 && !named {
		cause := NamespaceCause{Kind: CauseContentsLeft, Reason: reason.Of(found)}
		for _, f := range found.Finalizers {
			cause.Finalizers = append(cause.Finalizers, d.of.Finalizers([]string{f.Finalizer}, f.First)...)
		}
		d.add(cause)
	}
}

// unknown adds what weakens the diagnosis, or that it explains nothing.
func (d *namespaceDiagnosis) unknown() {
	switch {
	case d.namespace.NamespaceStatus == nil:
		d.add(NamespaceCause{Kind: CauseConditionsUnread, Reason: reason.ConditionsUnread})
	case len(d.status.Conditions) == 0:
		d.add(NamespaceCause{Kind: CauseNothing, Reason: reason.NothingReported})
	case !d.fails && !d.held && !d.outdated && len(d.unread) == 0:
		d.add(NamespaceCause{Kind: CauseNothing, Reason: reason.NothingHoldsNamespace})
	case len(d.found.Causes) == 0: // only the collector's finalizer holds it
		d.add(NamespaceCause{Kind: CauseFinalizers, Reason: reason.Of(reason.HeldByFinalizers{Finalizers: d.namespace.Finalizers})})
	}
}

// byType counts objects by type, in the order of the types' names.
func (d *namespaceDiagnosis) byType(nodes []graph.Node) []reason.TypeCount {
	counts := map[string]int{}
	for _, n := range nodes {
		o := d.of.graph.Object(n)
		if m, ok := d.of.graph.View().Map(o.APIVersion, o.Kind); ok {
			counts[m.Type.String()]++
		} else {
			counts[o.Kind]++
		}
	}
	out := []reason.TypeCount{}
	for t, n := range counts {
		out = append(out, reason.TypeCount{Type: t, Objects: n})
	}
	slices.SortFunc(out, func(a, b reason.TypeCount) int { return cmp.Compare(a.Type, b.Type) })
	return out
}
