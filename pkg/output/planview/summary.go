package planview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// SummaryLine returns in one line, without its line break, what a plan does and where, how much
// stays blocked, and whether the scan was complete. where follows what it does, with a space
// before it; it may be empty.
func SummaryLine(p *plan.Plan, where string) string {
	if p.Mode.Cascades() {
		return deletionSummaryLine(p, where)
	}
	after := countAfterNode(p)
	return joined("; ",
		cmp.Or(countActions(p, countWord, func(*plan.Step) bool { return true }), "Nothing to do")+where,
		some(len(p.LostObjects)-p.Summary().Delete-after, "1 more object with them", "%s more objects with them"),
		some(after, "1 more object "+afterNode, "%s more objects "+afterNode),
		some(len(p.Blocked), "1 remains blocked", "%s remain blocked"),
		some(nextRun(p), "1 is due in the next run", "%s are due in the next run"),
		some(len(p.Kept), "leaves 1 alone", "leaves %s alone"),
	) + ". " + wording.Scan(p.Complete)
}

// joined joins the parts of a text that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// some returns the text for one, or for several with their number in the place of %s. It returns an
// empty string for none.
func some(n int, one, several string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return one
	}
	return fmt.Sprintf(several, wording.Thousands(n))
}

// countActions counts the steps that match, as in "delete 3, unlink 1". It returns an empty
// string if none does.
func countActions(p *plan.Plan, count func(plan.Action, int) string, matches func(*plan.Step) bool) string {
	found := map[plan.Action]int{}
	for i := range p.Steps {
		if matches(&p.Steps[i]) {
			found[p.Steps[i].Action]++
		}
	}
	var out []string
	for _, action := range slices.SortedFunc(maps.Keys(found), func(a, b plan.Action) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a, b))
	}) {
		out = append(out, count(action, found[action]))
	}
	return strings.Join(out, ", ")
}

// nextRun counts the objects that only another run deletes.
func nextRun(p *plan.Plan) int {
	n := 0
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.When == plan.Later && o.Follows == "" {
			n++
		}
	}
	return n
}

// DeletionSummary returns in one line, without its line break, how many objects of each kind a
// deletion deletes now and later, and whether PersistentVolumeClaims are among them. It returns an
// empty string if nothing is deleted.
func DeletionSummary(p *plan.Plan, palette *color.Palette) string {
	counts, later := map[schema.GroupKind]int{}, map[schema.GroupKind]int{}
	critical := map[schema.GroupKind]bool{}
	var finalizers []string // that later ones wait for
	total, claims := 0, false
	for _, lost := range p.LostObjects {
		o := lost.Object
		kind := groupKind(o)
		if lost.Later() || lost.Outcome != nil && lost.Outcome.InUse() {
			later[kind]++
			total++
			finalizers = append(finalizers, lost.Outcome.WaitsFor...)
		} else {
			counts[kind]++
		}
		critical[kind] = o.IsNamespace() || o.IsCRD() || isStorage(o)
		claims = claims || isClaim(o)
	}
	var parts []string
	if len(counts) > 0 {
		parts = append(parts, listKinds(counts, critical, palette))
	}
	when := once(finalizers)
	if countAfterNode(p) == total {
		when = afterNode
	}
	if total > 0 {
		parts = append(parts, wording.Thousands(total)+" more "+when+": "+listKinds(later, critical, palette))
	}
	perhaps, more := 0, unseen(p) // claims that another order of events deletes
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.MayBeDeleted && isClaim(o.Object) {
			perhaps++
		}
	}
	switch {
	case perhaps > 0:
		parts = append(parts, "perhaps PersistentVolumeClaim "+wording.Thousands(perhaps))
	case len(parts) == 0:
		return ""
	case more != "":
		parts = append(parts, more)
	case !claims && p.ClaimsUnread():
		parts = append(parts, "no PersistentVolumeClaims among the objects that this tool could read")
	case !claims:
		parts = append(parts, "no PersistentVolumeClaims")
	}
	return "Deletes: " + strings.Join(parts, "; ") + "."
}

// DataSummary returns in one line, without its line break, what becomes of the data of the claims and volumes that
// a plan deletes. It returns an empty string if there are none.
func DataSummary(p *plan.Plan, palette *color.Palette) string {
	d, lost := p.Data(), ""
	if d.Lost > 0 {
		switch lost = LostData(d); {
		case d.InUse == d.Lost:
			lost += " goes once nothing uses it"
		case d.InUse > 0:
			lost += fmt.Sprintf(" is DELETED, of %d once nothing uses it", d.InUse)
		default:
			lost += " is DELETED"
		}
		lost = palette.Deleted(lost)
	}
	sum := joined("; ", lost, some(d.Kept, "the data of 1 volume is kept", "the data of %s volumes is kept"),
		palette.Changed(some(d.Unknown, "the data of 1 volume may be lost", "the data of %s volumes may be lost")))
	if sum == "" {
		return ""
	}
	return "Data: " + sum + "."
}

// LostData returns whose data is lost: "the data of 2 volumes (60Gi)".
func LostData(d plan.DataTotals) string {
	out := "the data of " + wording.Count(d.Lost, "volume")
	if !d.Size.IsZero() {
		out += " (" + d.Size.String() + ")"
	}
	return out
}

// maxImpacts is how many of the plan's Impacts are printed; -o json has all.
const maxImpacts = 10

// Impacts returns what a deletion means for others than dependents, in a line each.
func Impacts(p *plan.Plan, palette *color.Palette) (lines []string) {
	for i, r := range p.Impacts {
		if i == maxImpacts {
			return append(lines, fmt.Sprintf("… and %d more such lines: to see all of them, use -o json", len(p.Impacts)-i))
		}
		lines = append(lines, palette.Changed(sentence(escape.Sentence(r.Message()))))
	}
	return lines
}

const afterNode = "about a minute after the Node is gone"

// countAfterNode counts the objects that the plan deletes some time after a Node.
func countAfterNode(p *plan.Plan) int {
	n := 0
	for _, lost := range p.LostObjects {
		if lost.Outcome != nil && lost.Outcome.AfterNode() {
			n++
		}
	}
	return n
}

// listKinds returns how many objects of each kind there are: "ConfigMap 1, Pod 2".
func listKinds(counts map[schema.GroupKind]int, critical map[schema.GroupKind]bool, palette *color.Palette) string {
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b schema.GroupKind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Group, b.Group))
	})
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		if parts[i] = escape.Word(kind.Kind) + " " + wording.Thousands(counts[kind]); critical[kind] {
			parts[i] = palette.Deleted(parts[i])
		}
	}
	return strings.Join(parts, ", ")
}

// once returns when objects go that wait for these finalizers, as a clause.
func once(finalizers []string) string {
	slices.Sort(finalizers)
	known, unknown := byController(slices.Compact(finalizers))
	var controllers, parts []string
	for _, f := range known {
		if controller, _, _ := simulate.FinalizerController(f); !slices.Contains(controllers, controller) {
			controllers = append(controllers, controller)
		}
	}
	switch len(controllers) {
	case 0:
	case 1:
		parts = append(parts, controllers[0]+" has finished")
	default:
		parts = append(parts, strings.Join(controllers, " and ")+" have finished")
	}
	if len(unknown) > 0 {
		parts = append(parts, "a controller has removed "+wording.List(unknown, maxNames))
	}
	return "once " + cmp.Or(strings.Join(parts, ", and "), "nothing holds them")
}

func deletionSummaryLine(p *plan.Plan, where string) string {
	var deleted, blocked, inUse, later, doubtful, uncertain, keep int
	unclear := map[object.Identity]bool{}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.Nondeterministic != nil {
			unclear[o.Object] = true
		}
	}
	for _, lost := range p.LostObjects {
		if unclear[lost.Object] {
			doubtful++
		}
		switch {
		case lost.Later():
			later++
		case lost.Outcome != nil && lost.Outcome.InUse():
			inUse++
		case lost.Outcome != nil && lost.Outcome.State == plan.Terminating:
			blocked++
		default:
			deleted++
		}
	}
	uncertain = len(unclear) - doubtful
	for _, s := range p.Retained {
		switch {
		case unclear[s.Object]:
		case s.Uncertain:
			uncertain++
		default:
			keep++
		}
	}
	if deleted+blocked+inUse+later+keep+uncertain+len(p.Blocked) == 0 {
		return "Nothing to do" + where + ". " + wording.Scan(p.Complete)
	}
	removes, deletes := "", ""
	if p.Mode == plan.FinalizerRemoval {
		removes = cmp.Or(countActions(p, countWord, func(s *plan.Step) bool { return s.Requested }), countWord(plan.ActionRemoveFinalizer, 0))
	}
	if n := deleted + blocked + inUse + later; n > 0 || removes == "" {
		deletes = "delete " + wording.Thousands(n)
		if notNow := joined(", ", some(blocked, "1 blocked", "%s blocked"), some(inUse, "1 in use", "%s in use"), some(later, "1 later", "%s later"), some(doubtful, "1 uncertain", "%s uncertain")); notNow != "" {
			deletes += " (" + notNow + ")"
		}
	}
	sum := joined(", ", removes, deletes, some(keep, "keep 1", "keep %s"), some(len(p.KeptByAdmission), "refused 1", "refused %s"), some(uncertain, "uncertain 1", "uncertain %s"))
	return sum + where + ". " + wording.Scan(p.Complete)
}

// Breaks returns, in a line each, what the plan takes away although it is, or may be, in use.
func Breaks(p *plan.Plan) []string {
	var out []string
	for _, b := range p.Breaks() {
		out = append(out, name(b.Object)+" "+escape.Line(b.Phrase()))
	}
	return out
}

// CriticalDeletions names the namespaces, CustomResourceDefinitions, volumes, claims and
// objects in kube-system that the plan deletes, now or later, with their contents, in the order of the
// preview.
func CriticalDeletions(p *plan.Plan) []string {
	var out []string
	l, lost := newLayout(p, nil), map[object.Identity]bool{}
	for _, one := range p.LostObjects {
		lost[one.Object] = critical(one.Object)
	}
	each(l.roots, func(on *line) {
		o := on.object()
		if !lost[o] {
			return
		}
		text := arguments(o)
		if what, how := contentsOf(on); what != "" {
			text += ": " + what + " " + how
		}
		if l.outcome(o).When == plan.Later {
			text += ", later"
		}
		out = append(out, text)
	})
	return out
}

// Grants names in one line, without its line break, the objects that a restoration creates and that give rights, or
// decide which requests the API server accepts. It returns an empty string if there are none.
func Grants(p *plan.Plan) string {
	var names []string
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Creation != nil && s.Creation.Grants {
			names = append(names, arguments(s.Object.Identity))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Gives rights, or decides what the API server accepts: " + wording.List(names, maxGrants) + "."
}

// maxGrants is how many objects Grants names.
const maxGrants = 10

func critical(o object.Identity) bool {
	return o.Namespace == "kube-system" || o.IsNamespace() || o.IsCRD() || isStorage(o)
}

// AcceptedGaps names the gaps that the user accepted, and per object what is done only
// because of that, in at most limit lines. It returns nil if there are none.
func AcceptedGaps(p *plan.Plan, limit int, palette *color.Palette) []string {
	if len(p.AcceptedGaps) == 0 {
		return nil
	}
	var lines []string
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.AcceptedGaps) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", palette.Changed(arguments(s.Object.Identity)), despiteGap(s)))
		}
	}
	head := "Accepted, although this tool could not read it: " + escape.Word(strings.Join(p.AcceptedGaps, ", ")) + "."
	if len(lines) == 0 {
		return []string{head + " No action depends on it."}
	}
	if more := len(lines) - limit; more > 0 {
		lines = append(lines[:limit], fmt.Sprintf("  and %d more", more))
	}
	return append([]string{head + " These actions depend on it:"}, lines...)
}

// despiteGap returns what a step does, and what was not read before.
func despiteGap(s *plan.Step) string {
	in := escape.Line(strings.Join(s.AcceptedGaps, ", "))
	switch {
	case s.Action == plan.ActionRemoveFinalizer:
		return fmt.Sprintf("its finalizer %s is removed, although this tool could not read %s, which may depend on it", escape.Word(s.Finalizer()), in)
	case s.Action == plan.ActionDelete && simulate.DeletesContents(s.Object.Identity):
		return fmt.Sprintf("its %s are deleted, too, although this tool could not read them or back them up", in)
	case s.Action == plan.ActionDelete:
		return fmt.Sprintf("is deleted, although this tool could not read %s, on which that depends", in)
	}
	return fmt.Sprintf("its owner references are changed, although this tool could not read %s, which may depend on it", in)
}

// NotRestored returns lines about what a restoration does not restore, and for which objects.
// It returns nil if nothing is lost.
func NotRestored(p *plan.Plan, palette *color.Palette) []string {
	if len(p.Lost) == 0 {
		return nil
	}
	lines := []string{"Not restored:"}
	for _, lost := range p.Lost {
		line := "  " + palette.Changed(escape.Line(lost.Reason.Message()))
		if len(lost.Objects) > 0 {
			names := make([]string, len(lost.Objects))
			for n, o := range lost.Objects {
				names[n] = arguments(o)
			}
			line += ": " + wording.List(names, maxNames)
		}
		lines = append(lines, line)
	}
	return lines
}
