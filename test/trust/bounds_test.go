package trust

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Defect 12: a DELETE whose response is always lost, on an object that changes all the time, was
// repeated beyond --timeout and beyond an interrupt.
func TestDeleteIsNotRepeatedForEver(t *testing.T) {
	t.Parallel()
	const mostDeletes, mostWaiting = 100, 15 * time.Second
	lost := apierrors.NewTimeoutError("the request was not done in time", 0)
	conflict := apierrors.NewConflict(Secrets.GroupResource(), "garbage", errors.New("the object has been modified"))
	for name, c := range map[string]struct {
		answer    *apierrors.StatusError
		marked    bool // each DELETE marks the object as being deleted
		interrupt bool
		args      []string
		code      int
	}{
		"the response is lost, until --timeout":    {lost, true, false, []string{"--timeout", "3s"}, 1},
		"the response is lost, until an interrupt": {lost, true, true, nil, 130},
		"always a conflict, until --timeout":       {conflict, false, false, []string{"--timeout", "3s"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			if c.marked {
				terminating(garbage)
			}
			deleting := make(chan struct{})
			first := sync.OnceFunc(func() { close(deleting) })
			s.Lie(Sent(http.MethodDelete, Secrets), func(w http.ResponseWriter, r *http.Request) {
				s.Add(garbage) // with a new resourceVersion
				first()
				apiserver.RespondError(w, r, c.answer)
			})

			run := newUser(t, s).starts(append([]string{"collect", "--yes"}, c.args...)...)
			if c.interrupt {
				<-deleting
				run.must(run.cmd.Process.Signal(syscall.SIGINT))
			}
			run.ends(3*time.Second+mostWaiting).exits(1, c.code)
			if n := s.sent(http.MethodDelete); n == 0 || n > mostDeletes {
				t.Errorf("%d DELETEs were sent, at most %d are expected", n, mostDeletes)
			}
		})
	}
}

func (s *Server) sent(method string) (n int) {
	for _, r := range s.Writes() {
		if r.Method == method {
			n++
		}
	}
	return n
}

// Defect 15: while objects were read for the backup, a server that lets every continue token
// expire and returns a new one made the program read for ever.
func TestExpiringContinueTokensEndTheRead(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	garbageNamespace(s, 600) // more than fit on one page
	var tokens atomic.Int32
	behindTheFirst := func(r *http.Request) bool { return r.URL.Query().Has("continue") }
	s.Lie(Listed(Secrets).And(Whole).And(behindTheFirst), func(w http.ResponseWriter, r *http.Request) {
		expired := apierrors.NewResourceExpired("the continue token is too old")
		expired.ErrStatus.Continue = fmt.Sprint("token-", tokens.Add(1))
		apiserver.RespondError(w, r, expired)
	})

	newUser(t, s).runs("collect", "--yes")
	if n := tokens.Load(); n == 0 || n > 100 {
		t.Errorf("%d tokens were followed", n)
	}
}
