package cluster

import "slices"

// rule is what somebody may do, as a SelfSubjectRulesReview tells.
type rule struct {
	Verbs         []string `json:"verbs"`
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
}

// allows says whether the rule covers a request, in the way of RBAC
// (k8s.io/component-helpers, auth/rbac/validation). A request without a name, such as
// one that makes an object, is not covered by a rule for names.
func (r *rule) allows(at attributes) bool {
	return has(r.Verbs, at.Verb) && has(r.APIGroups, at.Group) && has(r.Resources, at.Resource) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, at.Name))
}

// has takes a star for everything.
func has(of []string, one string) bool { return slices.Contains(of, "*") || slices.Contains(of, one) }
