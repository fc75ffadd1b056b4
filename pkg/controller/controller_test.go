package controller_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// inBubble runs a test in a bubble, with a server of these Pods. The collector runs until do returns.
func inBubble(t *testing.T, pods []*apiserver.Object, o controller.Options, do func(*apiserver.Server)) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.Pods, apiserver.Deployments, apiserver.CRDs, apiserver.APIServices})
		s.Controllers, s.Clock, s.WatchLifetime = true, time.Now, 5*time.Minute
		s.Add(apiserver.Namespaces.Object("", "ns"))
		for _, pod := range pods {
			s.Add(pod)
		}
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
		do(s)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the collector ended: %v", err)
		}
	})
}

// orphan returns a Pod whose owner does not exist.
func orphan(name string) *apiserver.Object {
	pod := apiserver.Pods.Object("ns", name)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "gone", UID: "gone"}}
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
	inBubble(t, []*apiserver.Object{orphan("a")}, o, func(*apiserver.Server) { time.Sleep(time.Second) })
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
	inBubble(t, nil, o, func(s *apiserver.Server) {
		begun = time.Now()
		time.Sleep(10 * time.Second)
		s.Add(apiserver.Pods.Object("ns", "a"))
		time.Sleep(time.Hour)
	})
	later := slices.DeleteFunc(rounds, func(r round) bool { return r.at.Equal(begun) })
	if want := []round{{true, begun.Add(10 * time.Second)}, {false, begun.Add(time.Minute)}}; !slices.Equal(later, want) {
		t.Errorf("the rounds after those at %s were %v, want %v", begun, later, want)
	}
}

// TestSilentWatchIsNoticed has a server that keeps the watches of Pods open for ever and sends nothing.
func TestSilentWatchIsNoticed(t *testing.T) {
	inBubble(t, nil, controller.Options{MaxDeletes: 10}, func(s *apiserver.Server) {
		s.Lie(func(r *http.Request) bool { return r.URL.Path == "/api/v1/pods" && r.URL.Query().Has("watch") }, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", apiserver.InJSON)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		time.Sleep(11 * time.Minute) // from now on, watches are silent
		pod := s.Add(orphan("a"))
		time.Sleep(10*time.Minute + 31*time.Second) // client-go asks for 5 to 10 minutes
		if now, err := s.Get(apiserver.Pods.GroupVersionResource, pod.Namespace, pod.Name); err == nil {
			t.Errorf("garbage that no watch showed is still there: %v", now)
		}
	})
}
