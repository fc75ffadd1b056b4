package controller_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	podsPath = "/api/v1/pods"
	gonePath = "/apis/example.com/v1/namespaces/ns/widgets/gone"
)

// inBubble runs a test in a bubble, with a server of these Pods. The collector runs until do returns.
func inBubble(t *testing.T, pods []clustertest.Fields, o controller.Options, do func(podEvents chan<- any)) {
	_, s := clustertest.Serve(t, map[string]func(*http.Request) any{
		podsPath: clustertest.Reply(clustertest.List(pods...)),
		gonePath: clustertest.Reply(clustertest.Status(http.StatusNotFound, "NotFound", `widgets.example.com "gone" not found`,
			clustertest.Fields{"name": "gone", "group": "example.com", "kind": "widgets"})),
	})
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.ConnectInMemory(t, s, client.Options{Concurrency: 3, Timeout: 10 * time.Second})
		m, err := monitor.Start(t.Context(), c, monitor.Options{Parts: true})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Stop()
		o.Client, o.Monitor = c, m
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- controller.Run(ctx, o) }()
		do(s.RawEvents(podsPath))
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the collector ended: %v", err)
		}
	})
}

// orphan returns a Pod whose owner does not exist.
func orphan(name string) clustertest.Fields {
	pod := clustertest.Item(name)
	pod["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": "gone", "uid": "gone"}}
	return pod
}

func TestRoundThatFailedIsTriedAgainThoughNothingChanges(t *testing.T) {
	full := errors.New("no space left")
	var deletes []int
	var errs []error
	o := controller.Options{
		Backup: func(_ context.Context, _ *snapshot.Snapshot, p *plan.Plan) (controller.Backup, error) {
			deletes = append(deletes, p.Losses())
			if p.Digest == "" {
				t.Error("a plan to back up has no digest")
			}
			return nil, full
		},
		OnRound: func(r controller.Round) { errs = append(errs, r.Err) },
	}
	inBubble(t, []clustertest.Fields{orphan("a")}, o, func(chan<- any) { time.Sleep(time.Second) })
	// 100, 200, 400 milliseconds after one another
	if want := []int{1, 1, 1, 1}; !slices.Equal(deletes, want) {
		t.Errorf("the rounds of a second were about to delete %v objects, want %v", deletes, want)
	}
	for _, err := range errs {
		if !errors.Is(err, full) {
			t.Errorf("a round ended with %v", err)
		}
	}
}

func TestRoundOverEverythingFollowsOneOverAPartWithinAMinute(t *testing.T) {
	type round struct {
		part bool
		at   time.Time
	}
	var begun time.Time
	var rounds []round
	o := controller.Options{OnRound: func(r controller.Round) { rounds = append(rounds, round{r.Snapshot.Part, time.Now()}) }}
	inBubble(t, nil, o, func(podEvents chan<- any) {
		begun = time.Now()
		time.Sleep(10 * time.Second)
		podEvents <- clustertest.Fields{"type": "ADDED", "object": clustertest.Item("a")}
		time.Sleep(time.Hour)
	})
	later := slices.DeleteFunc(rounds, func(r round) bool { return r.at.Equal(begun) })
	if want := []round{{true, begun.Add(10 * time.Second)}, {false, begun.Add(time.Minute)}}; !slices.Equal(later, want) {
		t.Errorf("the rounds after those at %s were %v, want %v", begun, later, want)
	}
}
