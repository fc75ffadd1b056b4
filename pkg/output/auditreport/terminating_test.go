package auditreport_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func TestTerminatingTableHasARowPerObjectAndEscapesNames(t *testing.T) {
	at, root := time.Unix(10_000, 0), id("shop", "Pod", "web")
	found := func(age time.Duration, kind string, holder terminating.Holder, finalizers ...terminating.Finalizer) terminating.Hold {
		return terminating.Hold{Cluster: "prod", Object: id("shop", kind, "web"), Requested: at.Add(-age), Scanned: at, Holder: holder, Finalizers: finalizers}
	}
	blocked := found(time.Hour, "ReplicaSet", terminating.HolderDependents, terminating.Finalizer{Name: "example.com/\x1b[31m", Controller: "the controller behind example.com"})
	blocked.RootCause = &root
	node := found(time.Minute, "Node", terminating.HolderNothing)
	node.Object.Namespace = ""
	lost := found(time.Minute, "Pod", terminating.HolderKubelet)
	lost.Kubelet = reason.PodOverdue{Node: &object.PodNode{Name: "worker-3\x1b[31m", State: object.NodeAbsent}}.Kubelet()
	r := &audit.TerminatingReport{Objects: []terminating.Hold{blocked, found(2*time.Minute, "Pod", terminating.HolderKubelet), lost, node}}
	var out bytes.Buffer
	if err := auditreport.TerminatingTable(&out, r, false, true); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"CLUSTER AGE NAMESPACE OBJECT HELD BY CONTROLLER",
		`prod 60m shop ReplicaSet/web Pod/web (dependent, held by example.com/\x1b[31m)`,
		"prod 2m shop Pod/web kubelet, past the grace period its kubelet",
		`prod 60s shop Pod/web kubelet of Node worker-3\x1b[31m, which does not exist its kubelet`,
		"prod 60s - Node/web nothing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if line := auditreport.TerminatingSummary(r, &audit.Report{Complete: true}, 57); line != "4 objects are being deleted, the oldest for 60m. Complete scan: 57 of 57 resource types." {
		t.Error(line)
	}
}
