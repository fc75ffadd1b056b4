package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Format returns a scenario as text, one line for each of its parts:
//
//	type APIVERSION KIND RESOURCE [namespaced] [custom] [unwatchable] [also=VERSION]
//	unreachable GROUP
//	unlisted RESOURCE[.GROUP]
//	unserved RESOURCE[.GROUP]
//	misread UID
//	refuse DELETE|UPDATE UID [DOUBT]
//	object APIVERSION KIND [NAMESPACE/]NAME UID [ATTRIBUTE ...]
//	create APIVERSION KIND [NAMESPACE/]NAME UID [ATTRIBUTE ...]
//	delete UID [POLICY]
//
// The attributes of an object are, in any order except that of several owners:
//
//	finalizers=F,F        metadata.finalizers
//	spec=F,F              spec.finalizers of a Namespace
//	deleted=DURATION      how long before the scan the deletionTimestamp is
//	grace=SECONDS         deletionGracePeriodSeconds; 0 if only deleted is given
//	pod=SECONDS[,FLAG]    terminationGracePeriodSeconds, and scheduled, finished, lost
//	owner=APIVERSION,KIND,NAME,UID[,FLAG]
//	                      a reference, with block, noblock, controller, nocontroller
//
// What a scenario does not decide, such as creation times, is left out.
func Format(s scenario.Scenario) string {
	var out strings.Builder
	line := func(words ...string) { out.WriteString(strings.Join(words, " ") + "\n") }
	for _, t := range s.Types {
		words := []string{"type", apiVersion(t.Group, t.Version), t.Kind, t.Resource}
		words = appendIf(words, t.Namespaced, "namespaced")
		words = appendIf(words, t.Custom, "custom")
		words = appendIf(words, t.Unwatchable, "unwatchable")
		for _, version := range t.OtherVersions {
			words = append(words, "also="+version)
		}
		line(words...)
	}
	for _, group := range s.UnreachableGroups {
		line("unreachable", group)
	}
	for _, gr := range s.Faults.Unlisted {
		line("unlisted", gr)
	}
	for _, gr := range s.Faults.Unserved {
		line("unserved", gr)
	}
	for _, uid := range s.Faults.Misread {
		line("misread", string(uid))
	}
	for _, r := range s.Refused {
		line(appendIf([]string{"refuse", r.Operation, string(r.UID)}, r.Doubt != "", r.Doubt)...)
	}
	for i := range s.Objects {
		line(formatObject("object", &s.Objects[i])...)
	}
	for i := range s.Creates {
		line(formatObject("create", &s.Creates[i])...)
	}
	for _, d := range s.Deletes {
		line(appendIf([]string{"delete", d.UID}, d.Policy != "", string(d.Policy))...)
	}
	return out.String()
}

func appendIf(words []string, wanted bool, word string) []string {
	if wanted {
		return append(words, word)
	}
	return words
}

func formatObject(keyword string, o *scenario.Object) []string {
	path := o.Name
	if o.Namespace != "" {
		path = o.Namespace + "/" + o.Name
	}
	words := []string{keyword, o.APIVersion, o.Kind, path, string(o.UID)}
	words = appendIf(words, len(o.Finalizers) > 0, "finalizers="+strings.Join(o.Finalizers, ","))
	words = appendIf(words, len(o.SpecFinalizers) > 0, "spec="+strings.Join(o.SpecFinalizers, ","))
	if o.DeletionTimestamp != nil {
		words = append(words, "deleted="+scanned.Sub(o.DeletionTimestamp.Time).String())
		if grace := o.DeletionGracePeriodSeconds; grace != nil && *grace > 0 {
			words = append(words, "grace="+strconv.FormatInt(*grace, 10))
		}
	}
	if p := o.Pod; p != nil {
		flags := []string{"pod=" + strconv.FormatInt(p.GraceSeconds, 10)}
		flags = appendIf(flags, p.Scheduled, "scheduled")
		flags = appendIf(flags, p.Finished, "finished")
		flags = appendIf(flags, p.NodeLost, "lost")
		words = append(words, strings.Join(flags, ","))
	}
	for _, r := range o.OwnerReferences {
		words = append(words, "owner="+formatReference(r))
	}
	return words
}

func formatReference(r metav1.OwnerReference) string {
	words := []string{r.APIVersion, r.Kind, r.Name, string(r.UID)}
	if r.BlockOwnerDeletion != nil {
		words = append(words, map[bool]string{true: "block", false: "noblock"}[*r.BlockOwnerDeletion])
	}
	if r.Controller != nil {
		words = append(words, map[bool]string{true: "controller", false: "nocontroller"}[*r.Controller])
	}
	return strings.Join(words, ",")
}

// Parse returns the scenario that a text in the format of Format describes. Indentation and
// empty lines do not matter.
func Parse(text string) (scenario.Scenario, error) {
	var out scenario.Scenario
	for number, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := parseLine(&out, words); err != nil {
			return out, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return out, nil
}

func parseLine(out *scenario.Scenario, words []string) error {
	switch keyword, words := words[0], words[1:]; {
	case keyword == "type" && len(words) >= 3:
		gv, err := schema.ParseGroupVersion(words[0])
		if err != nil {
			return err
		}
		t := scenario.Type{Group: gv.Group, Version: gv.Version, Kind: words[1], Resource: words[2]}
		for _, flag := range words[3:] {
			version, also := strings.CutPrefix(flag, "also=")
			switch {
			case also:
				t.OtherVersions = append(t.OtherVersions, version)
			case flag == "namespaced":
				t.Namespaced = true
			case flag == "custom":
				t.Custom = true
			case flag == "unwatchable":
				t.Unwatchable = true
			default:
				return fmt.Errorf("unknown flag %q of a type", flag)
			}
		}
		out.Types = append(out.Types, t)
	case keyword == "unreachable" && len(words) == 1:
		out.UnreachableGroups = append(out.UnreachableGroups, words[0])
	case keyword == "unlisted" && len(words) == 1:
		out.Faults.Unlisted = append(out.Faults.Unlisted, words[0])
	case keyword == "unserved" && len(words) == 1:
		out.Faults.Unserved = append(out.Faults.Unserved, words[0])
	case keyword == "misread" && len(words) == 1:
		out.Faults.Misread = append(out.Faults.Misread, types.UID(words[0]))
	case keyword == "refuse" && len(words) >= 2:
		r := scenario.Refusal{Operation: words[0], UID: types.UID(words[1])}
		if len(words) > 2 {
			r.Doubt = words[2]
		}
		out.Refused = append(out.Refused, r)
	case (keyword == "object" || keyword == "create") && len(words) >= 4:
		o, err := parseObject(words)
		if err != nil {
			return err
		}
		if keyword == "create" {
			out.Creates = append(out.Creates, o)
		} else {
			out.Objects = append(out.Objects, o)
		}
	case keyword == "delete" && (len(words) == 1 || len(words) == 2):
		d := scenario.Delete{UID: words[0]}
		if len(words) == 2 {
			d.Policy = metav1.DeletionPropagation(words[1])
		}
		out.Deletes = append(out.Deletes, d)
	default:
		return fmt.Errorf("no such line: %s %s", keyword, strings.Join(words, " "))
	}
	return nil
}

func parseObject(words []string) (scenario.Object, error) {
	var o scenario.Object
	o.APIVersion, o.Kind, o.Name, o.UID = words[0], words[1], words[2], types.UID(words[3])
	if ns, name, ok := strings.Cut(words[2], "/"); ok {
		o.Namespace, o.Name = ns, name
	}
	o.CreationTimestamp = metav1.NewTime(scanned.Add(-24 * time.Hour))
	for _, attribute := range words[4:] {
		key, value, _ := strings.Cut(attribute, "=")
		values := strings.Split(value, ",")
		var err error
		switch key {
		case "finalizers":
			o.Finalizers = values
		case "spec":
			o.SpecFinalizers = values
		case "deleted":
			var ago time.Duration
			ago, err = time.ParseDuration(value)
			o.DeletionTimestamp = ptr(metav1.NewTime(scanned.Add(-ago)))
			if o.DeletionGracePeriodSeconds == nil {
				o.DeletionGracePeriodSeconds = ptr[int64](0)
			}
		case "grace":
			o.DeletionGracePeriodSeconds = new(int64)
			*o.DeletionGracePeriodSeconds, err = strconv.ParseInt(value, 10, 64)
		case "pod":
			o.Pod, err = parsePod(values)
		case "owner":
			var r metav1.OwnerReference
			r, err = parseReference(values)
			o.OwnerReferences = append(o.OwnerReferences, r)
		default:
			err = fmt.Errorf("unknown attribute %q", key)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

func parsePod(values []string) (*scenario.Pod, error) {
	grace, err := strconv.ParseInt(values[0], 10, 64)
	out := &scenario.Pod{GraceSeconds: grace}
	for _, flag := range values[1:] {
		switch flag {
		case "scheduled":
			out.Scheduled = true
		case "finished":
			out.Finished = true
		case "lost":
			out.NodeLost = true
		default:
			return nil, fmt.Errorf("unknown flag %q of a Pod", flag)
		}
	}
	return out, err
}

func parseReference(values []string) (metav1.OwnerReference, error) {
	if len(values) < 4 {
		return metav1.OwnerReference{}, fmt.Errorf("an owner needs APIVERSION,KIND,NAME,UID")
	}
	out := metav1.OwnerReference{APIVersion: values[0], Kind: values[1], Name: values[2], UID: types.UID(values[3])}
	for _, flag := range values[4:] {
		switch flag {
		case "block", "noblock":
			out.BlockOwnerDeletion = ptr(flag == "block")
		case "controller", "nocontroller":
			out.Controller = ptr(flag == "controller")
		default:
			return out, fmt.Errorf("unknown flag %q of an owner", flag)
		}
	}
	return out, nil
}
