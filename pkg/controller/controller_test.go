package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// inBubble runs a test in a bubble, with a server of these objects. The collector runs until do returns.
func inBubble(t *testing.T, pods []*apiserver.Object, o controller.Setup, do func(*apiserver.Server)) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.Pods, apiserver.Deployments, apiserver.CRDs, apiserver.APIServices})
		s.Controllers, s.Clock, s.WatchLifetime = true, time.Now, 5*time.Minute
		for _, name := range strings.Fields("ns a b c d e f g") {
			s.Add(apiserver.Namespaces.Object("", name))
		}
		for _, pod := range pods {
			s.Add(pod)
		}
		c := clustertest.ConnectInMemory(t, s, client.Config{Concurrency: 3, Timeout: 10 * time.Second})
		m, err := monitor.Start(t.Context(), c, monitor.Settings{})
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
	o := controller.Setup{
		MaxDeletes: 10,
		Backup: func(_ context.Context, _ *snapshot.Snapshot, p *plan.Plan) (controller.RoundBackup, error) {
			deletes = append(deletes, len(p.LostObjects))
			if p.Digest() == "" {
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
	o := controller.Setup{OnRound: func(r controller.Round) { rounds = append(rounds, round{r.Snapshot.Part, time.Now()}) }}
	inBubble(t, nil, o, func(s *apiserver.Server) {
		begun = time.Now()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s.Add(apiserver.Pods.Object("ns", "a"))
		time.Sleep(time.Hour)
		synctest.Wait()
	})
	later := slices.DeleteFunc(rounds, func(r round) bool { return r.at.Equal(begun) })
	if want := []round{{true, begun.Add(10 * time.Second)}, {false, begun.Add(time.Minute)}}; !slices.Equal(later, want) {
		t.Errorf("the rounds after those at %s were %v, want %v", begun, later, want)
	}
}

// orphanIn returns an object in a namespace whose owner of that kind does not exist.
func orphanIn(namespace, name, kind string) *apiserver.Object {
	pod := apiserver.Pods.Object(namespace, name)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "gone", UID: "gone"}}
	if kind == "Pod" {
		pod.OwnerReferences[0].APIVersion = "v1"
	}
	return pod
}

func TestRoundLeavesOutWhatExceedsTheLimit(t *testing.T) {
	many := func(namespace, kind string, n int) (out []*apiserver.Object) {
		for i := range n {
			out = append(out, orphanIn(namespace, fmt.Sprintf("%s-%d", strings.ToLower(kind), i), kind))
		}
		return out
	}
	everywhere := func(namespaces string, n int) (out []*apiserver.Object) {
		for _, namespace := range strings.Split(namespaces, "") {
			out = append(out, many(namespace, "Deployment", n)...)
		}
		return out
	}
	for name, c := range map[string]struct {
		pods []*apiserver.Object
		max  int
		full string
		left string // namespaces and numbers of Pods that are left
		out  []controller.LeftOut
	}{
		"nothing within the limit": {pods: many("a", "Deployment", 10), max: 10},
		"a namespace, not others": {
			pods: slices.Concat(many("a", "Deployment", 11), many("b", "Deployment", 10)), max: 10, left: "a:11",
			out: []controller.LeftOut{{Namespace: "a", Deletes: 11}},
		},
		"a kind of owners in several namespaces, not other kinds": {
			pods: slices.Concat(everywhere("abcdefg", 6), many("g", "Pod", 3)), max: 10, left: "a:6 b:6 c:6 d:6 e:6 f:6 g:6",
			out: []controller.LeftOut{{OwnerKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Deletes: 42}},
		},
		"no kind of owners because of a few namespaces": {pods: slices.Concat(everywhere("abcde", 10), everywhere("fg", 5)), max: 10},
		"everything with a limit of 0": {
			pods: slices.Concat(many("a", "Deployment", 1), many("b", "Pod", 1)), max: 0, left: "a:1 b:1",
			out: []controller.LeftOut{{Namespace: "a", Deletes: 1}, {Namespace: "b", Deletes: 1}},
		},
		"a namespace whose backups use up its share": {
			pods: slices.Concat(many("a", "Deployment", 1), many("b", "Deployment", 1)), max: 10, full: "a", left: "a:1",
			out: []controller.LeftOut{{Namespace: "a", Deletes: 1, BackupFull: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var last controller.Round
			o := controller.Setup{
				MaxDeletes: c.max, Full: func(namespace string) bool { return namespace == c.full },
				OnRound: func(r controller.Round) { last = r },
			}
			inBubble(t, c.pods, o, func(s *apiserver.Server) {
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				var left []string
				for _, namespace := range strings.Fields("a b c d e f g") {
					if pods, _ := s.List(apiserver.Pods.GroupVersionResource, namespace); len(pods) > 0 {
						left = append(left, fmt.Sprintf("%s:%d", namespace, len(pods)))
					}
				}
				if got := strings.Join(left, " "); got != c.left || !slices.Equal(last.LeftOut, c.out) {
					t.Errorf("left are %s, want %s; left out are %v, want %v", got, c.left, last.LeftOut, c.out)
				}
			})
		})
	}
}

// TestWhatIsLeftOutStaysUntilSomebodyActs touches an object that is left out, which makes a round over
// it alone, and then removes one.
func TestWhatIsLeftOutStaysUntilSomebodyActs(t *testing.T) {
	var pods []*apiserver.Object
	for i := range 11 {
		pods = append(pods, orphanIn("a", fmt.Sprint(i), "Deployment"))
	}
	inBubble(t, pods, controller.Setup{MaxDeletes: 10}, func(s *apiserver.Server) {
		count := func() int {
			left, _ := s.List(apiserver.Pods.GroupVersionResource, "a")
			return len(left)
		}
		for i := range 5 {
			time.Sleep(time.Minute)
			synctest.Wait()
			touched, err := s.Get(apiserver.Pods.GroupVersionResource, "a", "3")
			if err != nil {
				t.Fatal(err)
			}
			touched.Labels = map[string]string{"touched": fmt.Sprint(i)}
			touched.Finalizers = []string{fmt.Sprintf("example.com/%d", i)} // a change that matters
			s.Add(touched)
		}
		if n := count(); n != 11 {
			t.Errorf("%d of 11 objects are left", n)
		}
		if _, err := s.Delete(apiserver.Pods.GroupVersionResource, "a", "5", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := count(); n != 1 { // it has a finalizer
			t.Errorf("%d objects are left after one was removed", n)
		}
	})
}

// TestNamespaceCountsWithItsContents has a garbage Namespace with more contents than the limit.
func TestNamespaceCountsWithItsContents(t *testing.T) {
	var pods []*apiserver.Object
	for i := range 10 {
		pods = append(pods, apiserver.Pods.Object("doomed", fmt.Sprint(i)))
	}
	doomed := apiserver.Namespaces.Object("", "doomed")
	doomed.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "gone", UID: "gone"}}
	pods = append(pods, doomed, orphanIn("a", "a", "Deployment"))
	var last controller.Round
	inBubble(t, pods, controller.Setup{MaxDeletes: 10, OnRound: func(r controller.Round) { last = r }}, func(s *apiserver.Server) {
		time.Sleep(time.Minute)
		synctest.Wait()
		left, _ := s.List(apiserver.Pods.GroupVersionResource, "doomed")
		if want := []controller.LeftOut{{Namespace: "doomed", Deletes: 11}}; len(left) != 10 || !slices.Equal(last.LeftOut, want) {
			t.Errorf("%d Pods are left; left out are %v, want %v", len(left), last.LeftOut, want)
		}
		if left, _ = s.List(apiserver.Pods.GroupVersionResource, "a"); len(left) > 0 {
			t.Errorf("what is garbage elsewhere is left: %d", len(left))
		}
	})
}
