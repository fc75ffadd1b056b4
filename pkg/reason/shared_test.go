package reason_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestShared(t *testing.T) {
	owner := reason.Owner{Kind: "Deployment", Name: "old"}
	held := reason.HeldByFinalizers{Finalizers: []string{"example.com/a", "example.com/b"}}
	for want, r := range map[string]*reason.Reason{
		"Deployment/old does not exist":                                                       reason.OwnerMissing(owner, true),
		"owner not verified: you are not allowed to list deployments.apps":                    reason.Of(reason.OwnerUnverified{Owner: owner, Gap: &reason.Gap{Group: "apps", Resource: "deployments", ErrorClass: "forbidden"}}),
		"Deployment/old: not in the file":                                                     reason.Of(reason.OwnerUnverified{Owner: owner, Gap: &reason.Gap{Group: "*", Resource: "*", ErrorClass: "not-in-file"}}),
		"Deployment/old: timeout":                                                             reason.Of(reason.OwnerUnverified{Owner: owner, ErrorClass: "timeout", Detail: "no answer"}),
		"terminating, held by example.com/a, example.com/b":                                   reason.Of(reason.FinalizerStuck{HeldByFinalizers: held}),
		"terminating, has no condition of the namespace controller, which may not be running": reason.Of(reason.NamespaceStuck{Causes: []*reason.Reason{reason.NothingReported}}),
	} {
		if got := r.Shared(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
