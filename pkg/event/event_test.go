package event_test

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestMarshalJSONIncludesTheReason(t *testing.T) {
	for want, e := range map[string]event.Event{
		`{"event":"started","step":"1","action":"delete"}`: {Event: event.Started, Step: "1", Action: "delete"},
		`{"event":"ended","status":"skipped","reason":"AlreadyGone","message":"already gone"}`: {
			Event: event.Ended, Status: event.Skipped, Reason: reason.AlreadyGone,
		},
		`{"event":"backup","reason":"BackedUp","parameters":{"saved":1,"total":2},"message":"backed up 1 of 2 objects to delete"}`: {
			Event: event.Backup, Reason: reason.Of(reason.BackedUp{Saved: 1, Total: 2}),
		},
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
	}
}
