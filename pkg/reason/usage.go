package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What a deletion means for others that Kubernetes does not ask before.
type (
	// UsedByOthers means that objects use an object by its name, and what follows for them if it is deleted.
	UsedByOthers struct {
		Object   object.Identity   `json:"object"`
		As       object.UsedAs     `json:"as"`
		Workload object.Identity   `json:"workload,omitzero"` // that the users are Pods of; the zero value: of none, or they are no Pods
		Users    []object.Identity `json:"users"`
	}
	// ClaimsStay means that a StatefulSet is deleted, and not the PersistentVolumeClaims made for its Pods.
	ClaimsStay struct {
		Object object.Identity   `json:"object"`
		Claims []object.Identity `json:"claims"`
	}
	// ReadyPodsGo means that Pods are deleted which are ready, whatever a PodDisruptionBudget allows: only an eviction
	// asks that.
	ReadyPodsGo struct {
		Workload object.Identity `json:"workload"` // or a Pod of none
		Deleted  int             `json:"deleted"`  // ready Pods
		Ready    int             `json:"ready"`    // with those that stay
		Budgets  []Budget        `json:"budgets,omitempty"`
	}
)

// ImpactUnread means that it is not known, or not fully, who uses what is deleted, how many ready Pods go, and which
// claims stay.
var ImpactUnread = says("ImpactUnread", "gaps", func(gaps []Gap) string {
	return "this deletion may affect more than this tool could read: " + listGaps(gaps)
})

// Budget is a PodDisruptionBudget, and how many evictions it allows now.
type Budget struct {
	object.Identity `json:",inline"`
	Allowed         int64 `json:"allowed"`
}

// uses are how an object is used: what precedes its user, and what follows for users once the object is gone.
var uses = map[object.UsedAs]struct{ by, then string }{
	object.AsEnvironment:  {"read into the environment of", "running containers keep it, but none will start without it"},
	object.AsVolume:       {"mounted by", "what runs keeps it, and nothing new starts without it"},
	object.AsClaim:        {"mounted by", "what does not run yet waits until there is one again"},
	object.AsAccount:      {"the account of", "until there is one again, the API server rejects its tokens and refuses new Pods"},
	object.AsPodClass:     {"the class of", "the API server will refuse new Pods without it"},
	object.AsPullSecret:   {"used to pull the images of", "new ones may fail to pull them without it"},
	object.AsOptional:     {"optional for", "new ones will start without it"},
	object.AsStorageClass: {"the class of", "no volume will be provisioned for new ones without it"},
	object.AsIngressClass: {"the class of", "it may no longer be served"},
	object.AsRole:         {"bound by", "a binding without its role grants nothing"},
}

func (r UsedByOthers) Message() string {
	who := first(mostNamed, r.Users, ", ", "%d more", func(user object.Identity) string { return r.located(user) })
	if r.Workload != (object.Identity{}) {
		who = Count(len(r.Users), "Pod") + " of " + r.located(r.Workload)
	}
	return fmt.Sprintf("%s is %s %s: %s", r.Object, uses[r.As].by, who, uses[r.As].then)
}

// located names the namespace of a user, too, if it is not that of the object.
func (r UsedByOthers) located(user object.Identity) string {
	if user.Namespace != r.Object.Namespace {
		return user.String() + " in namespace " + user.Namespace
	}
	return user.String()
}

func (r ClaimsStay) Message() string {
	return fmt.Sprintf("%s leaves its claims behind: %s", r.Object, first(mostNamed, r.Claims, ", ", "%d more", func(c object.Identity) string { return c.Name }))
}

func (r ReadyPodsGo) Message() string {
	text := fmt.Sprintf("removes %d of %s of %s", r.Deleted, Count(r.Ready, "ready Pod"), r.Workload)
	if r.Workload.IsPod() {
		text = fmt.Sprintf("removes %s, which is ready", r.Workload)
	}
	exceeded := false
	for _, b := range r.Budgets {
		text += fmt.Sprintf("; %s allows %d", b, b.Allowed)
		exceeded = exceeded || b.Allowed < int64(r.Deleted)
	}
	if exceeded {
		text += ", but a deletion does not ask it"
	}
	return text
}
