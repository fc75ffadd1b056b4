package trust

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestRunThatChangedNothingSuggestsNoUndo(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	s.Lie(func(r *http.Request) bool { return r.Method == http.MethodDelete }, Refuse(apierrors.NewForbidden(Secrets.GroupResource(), garbage.Name, nil)))
	u := newUser(t, s)
	r := u.runs("collect", "--yes").exits(1)
	if !strings.Contains(r.stdout, "nothing was changed") || strings.Contains(r.stdout, "Undo") {
		t.Errorf("it says %s", short(r.stdout))
	}
	s.StopLying()
	if r := u.runs("collect", "--yes").exits(0); !strings.Contains(r.stdout, " Undo: ") {
		t.Errorf("it says %s", short(r.stdout))
	}
}
