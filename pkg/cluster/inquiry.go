package cluster

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// inquiry is one question about rights on its way.
type inquiry struct {
	*Cluster
	rights []Right
	grants []Grant
}

// about is what an authorizer knows of a right that is used on an object. A request about
// a namespace is one in that namespace; one that makes an object has no name.
func (q *inquiry) about(right int, o object.Identity) attributes {
	of := q.grants[right].Type
	at := attributes{Verb: q.rights[right].Verb, Group: of.Group, Resource: of.Resource, Namespace: o.Namespace}
	if at.Verb == "create" {
		return at
	}
	at.Name = o.Name
	if o.IsNamespace() {
		at.Namespace = o.Name
	}
	return at
}

// withoutWide answers the rights that are not granted in all namespaces. It asks that
// where there are more namespaces than there are verbs and types.
func (q *inquiry) withoutWide(ctx context.Context, rights []int) []int {
	namespaces, known := map[string]bool{}, map[attributes]int{}
	var wide []attributes
	of := make([]int, len(rights)) // the place in wide of each right
	for k, i := range rights {
		at := q.about(i, q.rights[i].Objects[0])
		namespaces[at.Namespace] = true
		at.Namespace, at.Name = "", ""
		if _, ok := known[at]; !ok {
			known[at] = len(wide)
			wide = append(wide, at)
		}
		of[k] = known[at]
	}
	if len(namespaces) <= len(wide) || len(wide) > mostReviews {
		return rights
	}
	granted, _ := each(ctx, q.options.Small, wide, func(at attributes) bool { // what was not asked is asked in each
		may, err := q.may(ctx, at)
		return err == nil && may
	})
	var left []int
	for k, i := range rights {
		if !granted[of[k]] {
			left = append(left, i)
		}
	}
	return left
}

// byRules settles rights by the rules in their namespaces, and answers those about which
// these say nothing for certain.
func (q *inquiry) byRules(ctx context.Context, rights []int) (doubtful []int) {
	known := map[string]int{}
	var namespaces []string
	for _, i := range rights {
		ns := q.rights[i].Objects[0].Namespace
		if _, ok := known[ns]; !ok && len(namespaces) < mostReviews {
			known[ns] = len(namespaces)
			namespaces = append(namespaces, ns)
		}
	}
	type answer struct {
		rules []rule
		whole bool
	}
	answers, _ := each(ctx, q.options.Small, namespaces, func(ns string) (a answer) {
		a.rules, a.whole = q.rules(ctx, ns)
		return a
	})
	for _, i := range rights {
		place, asked := known[q.rights[i].Objects[0].Namespace]
		if !asked {
			doubtful = append(doubtful, i)
			continue
		}
		switch uncovered := q.uncovered(i, answers[place].rules); {
		case len(uncovered) == 0:
		case answers[place].whole:
			q.grants[i].Refused = uncovered
		default:
			doubtful = append(doubtful, i)
		}
	}
	return doubtful
}

// uncovered are the objects of a right that no rule covers.
func (q *inquiry) uncovered(right int, rules []rule) []object.Identity {
	var out []object.Identity
	for _, o := range q.rights[right].Objects {
		at, covered := q.about(right, o), false
		for k := range rules {
			covered = covered || rules[k].allows(at)
		}
		if !covered {
			out = append(out, o)
		}
	}
	return out
}

// question is whether a right is granted on one object, or on any in its place.
type question struct {
	right int
	of    object.Identity // zero where it is about any
	attributes
}

// oneByOne asks of each right whether it is granted on any object, and where it is not,
// on which of those that it is about: it may be limited to names, and one to change
// namespaces may come from each of them.
func (q *inquiry) oneByOne(ctx context.Context, rights []int) {
	var general []question
	for _, i := range rights {
		at := q.about(i, q.rights[i].Objects[0])
		if at.Name = ""; q.rights[i].Objects[0].IsNamespace() {
			at.Namespace = ""
		}
		general = append(general, question{i, object.Identity{}, at})
	}
	refused := q.put(ctx, general)
	for _, no := range q.put(ctx, q.single(refused)) {
		g := &q.grants[no.right]
		g.Refused, g.Untold = append(g.Refused, no.of), nil
	}
}

// single are the questions about single objects that follow from a refusal, the first
// ones of each right before the second ones.
func (q *inquiry) single(refused []question) []question {
	var out []question
	for k, more := 0, true; more; k++ {
		more = false
		for _, no := range refused {
			objects := q.rights[no.right].Objects
			switch {
			case k >= len(objects):
			case q.rights[no.right].Verb == "create": // what is made has no name yet
				q.grants[no.right].Refused = objects
			case len(out) == mostReviews:
				q.grants[no.right].Untold = errTooMany
			default:
				out, more = append(out, question{no.right, objects[k], q.about(no.right, objects[k])}), true
			}
		}
	}
	return out
}

// put asks the questions, as many as may be, and answers those whose answer is no.
func (q *inquiry) put(ctx context.Context, questions []question) (refused []question) {
	for _, one := range questions[min(len(questions), mostReviews):] {
		q.grants[one.right].Untold = errTooMany
	}
	questions = questions[:min(len(questions), mostReviews)]
	type answer struct {
		may, asked bool
		err        error
	}
	answers, err := each(ctx, q.options.Small, questions, func(one question) (a answer) {
		a.asked = true
		a.may, a.err = q.may(ctx, one.attributes)
		return a
	})
	for k, one := range questions {
		switch a := answers[k]; {
		case !a.asked:
			q.grants[one.right].Untold = err
		case a.err != nil:
			q.grants[one.right].Untold = a.err
		case !a.may:
			refused = append(refused, one)
		}
	}
	return refused
}
