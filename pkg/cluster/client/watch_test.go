package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

const timeout = 10 * time.Second

var pods = client.Query{Type: clustertest.Pods}

func asReceived(e watch.Event) (watch.Event, bool) { return e, true }

func TestWatchOutlivesTheTimeLimitOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apiserver.New([]*apiserver.Type{apiserver.Pods})
		w, err := clustertest.ConnectInMemory(t, server, client.Config{Timeout: timeout}).Watch(t.Context(), pods, metav1.ListOptions{}, asReceived)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * timeout)
		server.RawEvents("/api/v1/pods") <- clustertest.Fields{"type": "ADDED", "object": clustertest.Item("a")}
		if event, open := <-w.ResultChan(); !open || event.Object.(*metav1.PartialObjectMetadata).Name != "a" {
			t.Errorf("it ends before its first event, or has another: %v", event)
		}
		w.Stop()
		synctest.Wait()
		if n := server.Watches.Load(); n != 0 {
			t.Errorf("%d watches after Stop", n)
		}
	})
}

func TestWatchThatDoesNotBeginEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		began := time.Now()
		_, err := clustertest.ConnectInMemory(t, silent, client.Config{Timeout: timeout}).Watch(t.Context(), pods, metav1.ListOptions{}, asReceived)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != timeout {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// TestWatchPastItsTimeEnds has a server that does not end a watch.
func TestWatchPastItsTimeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apiserver.New([]*apiserver.Type{apiserver.Pods})
		began := time.Now()
		c := clustertest.ConnectInMemory(t, server, client.Config{Timeout: timeout})
		w, err := c.Watch(t.Context(), pods, metav1.ListOptions{TimeoutSeconds: new(int64(300))}, asReceived)
		if err != nil {
			t.Fatal(err)
		}
		event := <-w.ResultChan()
		if took := time.Since(began); took != 330*time.Second || event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
			t.Errorf("after %s: %v", took, event)
		}
		if event, open := <-w.ResultChan(); open {
			t.Errorf("it goes on: %v", event)
		}
		w.Stop()
		synctest.Wait()
		if n := server.Watches.Load(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}
