package simulate_test

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// living sets what an object says about its end.
func living(l object.Lifecycle) Option { return func(o *object.Object) { o.Lifecycle = &l } }

func TestDeletedByAndReplacement(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	account, node := Object("v1", "ServiceAccount", "a/ci"), Object("v1", "Node", "n")
	deployment := Object("apps/v1", "Deployment", "a/web", living(object.Lifecycle{Revision: 3, Keeps: map[string]int64{"": 10}}))
	cron := Object("batch/v1", "CronJob", "a/nightly", living(object.Lifecycle{Keeps: map[string]int64{"Complete": 3}}))
	set, job := Object("apps/v1", "StatefulSet", "a/db"), Object("batch/v1", "Job", "a/import", living(object.Lifecycle{Ended: "Complete"}))
	accounts := snapshot.Type{Version: "v1", Resource: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}
	of := func(o object.Object) Option { return Owned(To(o, Controlling)) }
	for name, c := range map[string]struct {
		object  object.Object
		deletes string // "" is nothing
		certain bool
		makes   string // who creates another one, or what is lost
	}{
		"k/k#111556: a token": {Secret("a/x", DeletedWith(account.Identity)), "the token controller deletes it once ServiceAccount/ci is gone", false, ""},
		"a token of an earlier account": {
			Secret("a/x", DeletedWith(Object("v1", "ServiceAccount", "a/ci", UID("earlier")).Identity)),
			"the token controller deletes it, since ServiceAccount/ci does not exist", true, "",
		},
		"another Secret": {Secret("a/x"), "", false, ""},
		"Endpoints":      {Object("v1", "Endpoints", "a/x"), "the endpoints controller deletes it, since Service/x does not exist", true, ""},
		"a Pod on a Node that is gone": {
			Pod("a/x", DeletedWith(Object("v1", "Node", "gone").Identity)), "Pod garbage collection deletes it, since Node/gone does not exist", true, "",
		},
		"a Pod on a Node":    {Pod("a/x", DeletedWith(node.Identity)), "", false, ""},
		"a Job with a TTL":   {Object("batch/v1", "Job", "a/x", living(object.Lifecycle{TTL: new(int64(60))})), "the TTL controller deletes it 60s after it finishes", false, ""},
		"a Job that expires": {Object("batch/v1", "Job", "a/x", living(object.Lifecycle{TTL: new(int64(60)), Ended: "Complete", Expires: &at})), "the TTL controller deletes it after 2026-11-20 12:00:00 UTC", true, ""},
		"a Job of a CronJob": {
			Object("batch/v1", "Job", "a/x", of(cron), living(object.Lifecycle{Ended: "Complete"})), "the CronJob controller deletes it once 3 newer Jobs of CronJob/nightly have succeeded", false, "",
		},
		"a failed Job of a CronJob without a limit for those": {Object("batch/v1", "Job", "a/x", of(cron), living(object.Lifecycle{Ended: "Failed"})), "", false, ""},
		"an old ReplicaSet": {
			Object("apps/v1", "ReplicaSet", "a/x", of(deployment), living(object.Lifecycle{Revision: 1})), "the Deployment controller deletes it once 10 newer ReplicaSets of Deployment/web are old, too", false,
			"Deployment/web will not create it again, and cannot be rolled back to revision 1 without it",
		},
		"the newest ReplicaSet":                  {Object("apps/v1", "ReplicaSet", "a/x", of(deployment), living(object.Lifecycle{Revision: 3})), "", false, "Deployment/web"},
		"a ReplicaSet whose revision is unknown": {Object("apps/v1", "ReplicaSet", "a/x", of(deployment)), "", false, ""},
		"a finished Pod":                         {Pod("a/x", of(job), living(object.Lifecycle{Ended: "Failed"})), reason.OldestPodsDeleted.Message(), false, "it has finished, so Job/import will not create another: its status and logs are lost"},
		"a Pod of a Job that has finished":       {Pod("a/x", of(job), living(object.Lifecycle{})), "", false, ""},
		"a failed Pod of a StatefulSet":          {Pod("a/x", of(set), living(object.Lifecycle{Ended: "Failed"})), reason.OldestPodsDeleted.Message(), false, "StatefulSet/db"},
		"a Workflow of a CronWorkflow":           {Object("argoproj.io/v1alpha1", "Workflow", "a/x", of(Object("argoproj.io/v1alpha1", "CronWorkflow", "a/cw"))), "", false, ""},
		"a TaskRun that runs, as far as is known": {
			Object("tekton.dev/v1", "TaskRun", "a/x", of(Object("tekton.dev/v1", "PipelineRun", "a/pr"))), "", false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := []object.Object{
				account, node, deployment, cron, set, job, Object("argoproj.io/v1alpha1", "CronWorkflow", "a/cw"), Object("tekton.dev/v1", "PipelineRun", "a/pr"), c.object,
			}
			judge := collector.NewJudge(graph.New(New(Serving(accounts), Listing(all...))))
			m := simulate.NewModel(judge, simulate.Cluster)
			n := judge.Graph().Find(c.object.UID)
			why, certain := m.DeletedBy(n)
			if got := why.Message(); got != c.deletes || certain != c.certain {
				t.Errorf("got %q, certain %v", got, certain)
			}
			makes := ""
			by, _, lost := m.Replacement(judge.Graph().Object(n), func(int) collector.Verdict { return collector.VerdictSolid })
			if by != nil {
				makes = by.String()
			}
			if makes += lost.Message(); makes != c.makes {
				t.Errorf("got %q, want %q", makes, c.makes)
			}
		})
	}
}
