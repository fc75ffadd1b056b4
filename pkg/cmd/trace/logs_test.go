package trace

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// TestChangesThatSayNothingNewAreNotKept covers files in any order: the latest change tells when an object was
// still there, which shows that an earlier deletion was a dry run.
func TestChangesThatSayNothingNewAreNotKept(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	change := func(uid types.UID, minute int, owners ...string) trace.Request {
		seen := trace.Seen{Object: object.Object{Identity: object.Identity{UID: uid}}}
		for _, owner := range owners {
			seen.Owners = append(seen.Owners, object.Reference{UID: types.UID(owner)})
		}
		return trace.Request{
			Verb: "update", Answered: now.Add(time.Duration(minute) * time.Minute),
			Target: trace.Target{Resource: "configmaps", Name: "x", UID: uid}, Objects: []trace.Seen{seen},
		}
	}
	deletion := change("a", 4)
	deletion.Verb = "delete"
	leaving := change("a", 20)
	leaving.Objects[0].Deleted = &now
	var evidence trace.Evidence
	l := logReader{evidence: &evidence, latest: map[types.UID]latest{}}
	requests := []trace.Request{
		change("a", 1), change("b", 1), change("a", 2), change("a", 3), deletion, change("a", 5), // the first and the latest
		change("a", 0),                               // of an older file
		change("a", 6, "owner"),                      // another owner
		change("a", 7), change("", 8), change("", 8), // none again; of unknown objects
		leaving, leaving,
	}
	for _, r := range requests {
		l.add(r)
	}
	var got []int
	for _, r := range evidence.Requests {
		got = append(got, int(r.Answered.Sub(now).Minutes()))
	}
	if want := []int{1, 1, 5, 4, 6, 7, 8, 8, 20, 20}; !slices.Equal(got, want) {
		t.Errorf("it keeps the requests of minutes %v, want %v", got, want)
	}
	if l.requests != len(requests) {
		t.Errorf("it counts %d requests, want %d", l.requests, len(requests))
	}
}
