package trace

import (
	"cmp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// controllerRoles are the controllers of kube-controller-manager whose deletions follow from something, by the
// names of their service accounts (NewControllerInitializers in cmd/kube-controller-manager,
// controller_policy.go of the RBAC bootstrap policy).
var controllerRoles = map[string]Role{
	"generic-garbage-collector": RoleCollector, "namespace-controller": RoleNamespace,
	"pod-garbage-collector": RolePodGC, "ttl-after-finished-controller": RoleTTL,
	"taint-eviction-controller": RoleTaint, "node-controller": RoleTaint, // the latter until 1.28
	"persistent-volume-binder": RoleController, "token-cleaner": RoleController, "legacy-service-account-token-cleaner": RoleController,
}

const (
	systemAccount = "system:serviceaccount:kube-system:"
	kubeletUser   = "system:node:"
	managerUser   = "system:kube-controller-manager"
)

// roleOf returns who a user is: the table of who is who. Without --use-service-account-credentials the
// controllers share one user, and only the end of the user agent tells them apart, as in
// "kube-controller-manager/v1.37.2 (linux/amd64) kubernetes/1a2b3c4/job-controller" (AddUserAgent in client-go).
// Nobody else may choose that user name, so the agent can be believed; that of this tool cannot.
func roleOf(user, agent string) (role Role, controller string) {
	name, isController := strings.CutPrefix(user, systemAccount)
	if parts := strings.Split(agent, "/"); user == managerUser && len(parts) > 4 {
		name, isController = strings.TrimPrefix(parts[len(parts)-1], systemAccount), true
	}
	switch {
	case strings.HasPrefix(agent, "kubectl-gc"):
		return RoleThisTool, ""
	case isController && user != managerUser && agent != "" && !strings.HasSuffix(agent, name) && !strings.HasPrefix(agent, "kube-controller-manager"):
		return RoleServiceAccount, "" // the token is used by something else
	case isController && controllerRoles[name] != RoleNone:
		return controllerRoles[name], name
	case isController && (user == managerUser || strings.HasSuffix(name, "-controller")):
		return RoleController, name
	case user == managerUser:
		return RoleManager, ""
	case user == "system:kube-scheduler":
		return RoleScheduler, ""
	case user == "system:apiserver":
		return RoleController, "kube-apiserver"
	case strings.HasPrefix(user, kubeletUser):
		return RoleKubelet, ""
	case strings.HasPrefix(user, "system:serviceaccount:"):
		return RoleServiceAccount, ""
	}
	return RoleUser, ""
}

// actorOf returns who sent a request. Who acts as somebody else is never taken for that one.
func actorOf(u *RequestUser) *Deleter {
	a := &Deleter{User: u.Name, Groups: u.Groups, Agent: u.Agent, Addresses: u.Addresses}
	if u.Impersonator != "" && u.Impersonator != u.Name {
		a.Role, a.User, a.As = RoleUser, u.Impersonator, u.Name
	} else {
		a.Role, a.Controller = roleOf(u.Name, u.Agent)
	}
	return a
}

// actorIn returns who deletes something, as a line has it.
func actorIn(l *Line) *Deleter {
	a := &Deleter{Role: cmp.Or(l.By, RoleCollector)}
	if a.Role == RoleController {
		a.Controller = l.Text
	}
	return a
}

// key tells senders apart.
func (a *Deleter) key() [3]string { return [3]string{string(a.Role), a.User, a.As} }

var nouns = map[Role]string{
	RoleCollector: "the garbage collector", RoleNamespace: "the namespace controller", RolePodGC: "the Pod garbage collector",
	RoleTTL: "the TTL controller of finished Jobs", RoleTaint: "the taint eviction controller", RoleManager: "kube-controller-manager", RoleScheduler: "the scheduler",
}

// String returns who it is as a noun, not escaped; empty for nobody.
func (a Deleter) String() string {
	switch {
	case a.As != "":
		return a.User + " as " + a.As
	case a.Role == RoleServiceAccount:
		return "service account " + strings.Replace(strings.TrimPrefix(a.User, "system:serviceaccount:"), ":", "/", 1)
	case strings.Contains(a.Controller, "/"): // an object, as an Event names it
		return a.Controller
	case a.Controller != "" && (a.Role == RoleController || a.Role == RoleTaint):
		return "the " + a.Controller
	case a.Role == RoleKubelet:
		return "the kubelet of " + strings.TrimPrefix(a.User, kubeletUser)
	case a.Role == RoleThisTool:
		return a.User + " (kubectl-gc)"
	}
	return cmp.Or(nouns[a.Role], a.User)
}

// decides returns why an actor deleted an object of that type of its own accord. known reports that it is
// also known who began this.
func (a Deleter) decides(verb, resource string) (why *reason.Reason, known bool) {
	switch {
	case verb == verbEvict:
		return reason.Evicted(a.String()), true
	case a.Role == RoleTTL:
		return reason.TTLExpired, true
	case a.Role == RoleTaint && resource == "pods":
		return reason.TaintEvicted, true
	case a.Role == RoleScheduler:
		return reason.Preempted, true
	case a.Role == RolePodGC:
		return reason.PodCollected, true
	case a.Role == RoleManager:
		return reason.UnknownController, false
	case a.Role == RoleController || a.Role == RoleTaint:
		return reason.ControllersDecision(a.String()), true
	case a.Role == RoleKubelet:
		return reason.EndedByKubelet, false
	}
	return reason.AskedFor(a.String()), true
}

// asks reports whether the actor may send a dry run, which a log at level Metadata does not tell from a
// deletion.
func (a Deleter) asks() bool {
	return a.Role == RoleUser || a.Role == RoleServiceAccount || a.Role == RoleThisTool
}
