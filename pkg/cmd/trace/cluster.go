package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// cluster reads what a cluster itself keeps: the Events of a namespace, and the log of kube-controller-manager.
func (l *logReader) cluster(ctx context.Context, namespace string) error {
	live, err := l.scan.Connect()
	if err != nil {
		return err
	}
	events, err := read.NamespaceEvents(ctx, live, namespace)
	if err == nil {
		_, err = l.text(ctx, bytes.NewReader(events), "namespace "+namespace)
	}
	if err != nil {
		return err
	}
	err = read.ManagerLogs(ctx, live, func(pod string, log io.Reader) error {
		_, err := l.text(ctx, log, "Pod/"+pod)
		return err
	})
	if err != nil {
		l.warnIf(true, "%s", escape.Sentence(err.Error()))
	}
	fmt.Fprintln(l.scan.Err, "note: the cluster keeps Events for an hour, and they name no person. An audit log does: --audit-log")
	return ctx.Err()
}
