package object_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestNodeStateOf(t *testing.T) {
	since := time.Date(2026, 11, 20, 5, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		status string
		state  object.NodeState
		since  time.Time
	}{
		"is ready":                              {`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-20T05:00:00Z"}]}`, object.NodeReady, time.Time{}},
		"is not ready":                          {`{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-11-20T05:00:00Z"}]}`, object.NodeNotReady, since},
		"does not report any more":              {`{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-11-20T06:00:00+01:00"}]}`, object.NodeNotReady, since},
		"does not say since when":               {`{"conditions":[{"type":"Ready","status":"False"}]}`, object.NodeNotReady, time.Time{}},
		"became so at a time that JSON has not": {`{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"9999-12-31T23:59:59-01:00"}]}`, object.NodeNotReady, time.Time{}},
		"has other conditions":                  {`{"conditions":[{"type":"DiskPressure","status":"False"}]}`, object.NodeUnknown, time.Time{}},
		"has a status that does not exist":      {`{"conditions":[{"type":"Ready","status":"Perhaps"}]}`, object.NodeUnknown, time.Time{}},
		"has no status":                         {``, object.NodeUnknown, time.Time{}},
		"is malformed":                          {`{"conditions":"none"}`, object.NodeUnknown, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			var raw json.RawMessage
			if c.status != "" {
				raw = json.RawMessage(c.status)
			}
			state, since := object.NodeStateOf(raw)
			if state != c.state || !since.Equal(c.since) {
				t.Errorf("got %s since %s", state, since)
			}
		})
	}
}

func TestPodNodeOf(t *testing.T) {
	for spec, want := range map[string]*object.PodNode{
		`{"nodeName":"worker-3"}`: {Name: "worker-3", State: object.NodeUnknown},
		`{}`:                      nil,
		`{"nodeName":3}`:          nil,
	} {
		if diff := cmp.Diff(want, object.PodNodeOf(json.RawMessage(spec))); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}
