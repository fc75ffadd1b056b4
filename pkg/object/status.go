package object

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// DeletionStatus is what an object that is being deleted says besides its metadata, in its status and by Events.
type DeletionStatus struct {
	// Conditions are those that are not as they should be, at most maxConditions: first those about its deletion.
	Conditions []StatusCondition `json:"conditions,omitempty"`
	Warnings   []ClusterEvent    `json:"warnings,omitempty"` // the latest Warnings, the latest last
	// Writers and Reporters are who changed it or reported an Event about it in the hour before the scan.
	Writers   []string `json:"writers,omitempty"`
	Reporters []string `json:"reporters,omitempty"`
}

// StatusCondition is a condition, or another part of a status that has a state or a message.
type StatusCondition struct {
	Type    string    `json:"type"`             // of the condition, or the name of the field
	Status  string    `json:"status,omitempty"` // True, False, Unknown or the state; empty if there is none
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"` // cut to maxMessage bytes, unescaped
	Since   time.Time `json:"since,omitzero"`    // lastTransitionTime
}

// Messages returns what the conditions and Warnings say.
func (s *DeletionStatus) Messages() []string {
	var out []string
	for _, c := range s.Conditions {
		out = append(out, c.Message)
	}
	for _, e := range s.Warnings {
		out = append(out, e.Message)
	}
	return out
}

// Says returns the first that an object says of its deletion, in its status or else by an Event, as a
// sentence without its full stop; it is empty if the object says nothing.
func (o *Object) Says(at time.Time) string {
	name := o.String()
	if o.Namespace != "" {
		name += " in " + o.Namespace
	}
	if o.Status == nil {
		return ""
	}
	for _, c := range o.Status.Conditions {
		if c.Reason+c.Message != "" {
			return name + " says: " + c.Text(at)
		}
	}
	if last := len(o.Status.Warnings) - 1; last >= 0 {
		return "Event about " + name + ": " + o.Status.Warnings[last].Text(at)
	}
	return ""
}

// Text returns what a condition said at a time, on one line.
func (c *StatusCondition) Text(at time.Time) string {
	text := strings.TrimSpace(c.Type + " " + c.Status)
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	if !c.Since.IsZero() {
		text += ", for " + duration.HumanDuration(max(at.Sub(c.Since), 0))
	}
	if c.Message != "" {
		text += ": " + c.Message
	}
	return text
}

// maxConditions limits what ConditionsOf returns, and maxStatusDepth where it looks for it.
const (
	maxConditions  = 4
	maxStatusDepth = 4
)

// ConditionsOf returns what a status of any kind says is not as it should be, by the conventions of
// Kubernetes: sigs.k8s.io/cli-utils (kstatus), "Typical status properties" of the API conventions, and
// lists in which every entry is a problem, as those of Argo CD. Where no condition is about the
// deletion, it adds what else has a state or message.
func ConditionsOf(rawStatus json.RawMessage) []StatusCondition {
	var status any
	if unmarshalOptional(rawStatus, &status) != nil {
		return nil
	}
	var deletion, others, fields []StatusCondition
	add := func(to *[]StatusCondition, c StatusCondition) {
		same := func(o StatusCondition) bool { return o.Type == c.Type && o.Message == c.Message }
		if len(*to) < maxConditions && !slices.ContainsFunc(*to, same) {
			*to = append(*to, c)
		}
	}
	eachPart(status, "status", 0, func(name string, part map[string]any) {
		c := conditionOf(part)
		switch {
		case name != "conditions":
			if c.Type = name; name == "status" {
				c.Type = "phase"
			}
			c.Status, c.Message = textOf(part, "phase", "state", "status"), textOf(part, "message", "errorMessage", "failureMessage", "lastError", "error")
			wrong := c.Status != "" && !goodState.MatchString(c.Status) || deletionWord.MatchString(c.Message)
			if wrong && (c.Message != "" || name == "status") {
				add(&fields, c)
			}
		case c.Type == "" || !c.wrong():
		case deletionWord.MatchString(c.Type + c.Reason + c.Message):
			add(&deletion, c)
		default:
			add(&others, c)
		}
	})
	if len(deletion) == 0 {
		others = append(others, fields...)
	}
	all := append(deletion, others...)
	return all[:min(len(all), maxConditions)]
}

// eachPart visits the objects in a value, the outer ones first, with the name of the field that has them.
func eachPart(value any, name string, depth int, visit func(name string, part map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			eachPart(element, name, depth, visit)
		}
	case map[string]any:
		visit(name, value)
		for _, field := range slices.Sorted(maps.Keys(value)) {
			if depth < maxStatusDepth && name != "conditions" {
				eachPart(value[field], field, depth+1, visit)
			}
		}
	}
}

func conditionOf(part map[string]any) StatusCondition {
	c := StatusCondition{Type: textOf(part, "type"), Status: textOf(part, "status"), Reason: textOf(part, "reason"), Message: textOf(part, "message")}
	if t, err := time.Parse(time.RFC3339, textOf(part, "lastTransitionTime")); err == nil && t.UTC().Year() > 0 && t.UTC().Year() <= 9999 {
		c.Since = t.UTC()
	}
	return c
}

// textOf returns the first of these fields that is a text.
func textOf(part map[string]any, names ...string) string {
	for _, name := range names {
		if text, ok := part[name].(string); ok && text != "" {
			return cut(text)
		}
	}
	return ""
}

// Words in the types and reasons of conditions, in lower case, and what states of objects are good.
var (
	word         = regexp.MustCompile(`[A-Z]?[a-z0-9]+`)
	badWord      = regexp.MustCompile(`^(abort|block|conflict|crash|degrad|denied|error|exceed|expir|fail|fault|forbid|invalid|lost|miss|paus|pressure|problem|refus|reject|stall|stuck|suspend|timeout|un(avail|health|reach|ready|sched)|violat|warn)`)
	goodWord     = regexp.MustCompile(`^(accepted|available|bound|complete|connected|deployed|established|healthy|initialized|installed|ok|programmed|provisioned|ready|reachable|reconciled|resolved|running|scheduled|success|succeeded|synced|synchronized|valid)$`)
	deletionWord = regexp.MustCompile(`(?i)delet|terminat|destroy|finaliz|uninstall|deprovision|dependents|clean(ing)?[ -]?up|tear(ing)?[ -]?down|drain|prun`)
	goodState    = regexp.MustCompile(`(?i)^(active|available|bound|completed?|connected|created|deployed|enabled|established|healthy|installed|normal|ok|ready|running|succeeded|success|synced|true)$`)
)

// wrong reports whether the condition is not as it should be. A type says something good (Ready), bad
// (Stalled), or what is being done (Progressing); "not" reverses it (NotReady). One without a status is in a
// list of problems.
func (c *StatusCondition) wrong() bool {
	var good, bad, doing, not bool
	for _, w := range word.FindAllString(c.Type, -1) {
		w = strings.ToLower(w)
		good, bad = good || goodWord.MatchString(w), bad || badWord.MatchString(w)
		doing, not = doing || strings.HasSuffix(w, "ing"), not || w == "no" || w == "not"
	}
	if good = good && !bad; not {
		good, bad = bad, good
	}
	failed := func(w string) bool { return badWord.MatchString(strings.ToLower(w)) }
	switch told := deletionWord.MatchString(c.Reason + c.Message); strings.ToLower(c.Status) {
	case "true":
		return bad || told || !good && deletionWord.MatchString(c.Type)
	case "false":
		return !bad && (good || slices.ContainsFunc(word.FindAllString(c.Reason, -1), failed) || told && !doing)
	}
	return true
}
