package object_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestNamespaceStatusOf(t *testing.T) {
	for name, c := range map[string]struct {
		spec, status string
		want         *object.NamespaceStatus
	}{
		"keeps the message of a condition that is true": {
			`{"finalizers":["kubernetes"]}`, `{"conditions":[{"type":"NamespaceDeletionContentFailure","status":"True","message":"no"}]}`,
			&object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: object.ContentFailure, True: true, Message: "no"}}},
		},
		"keeps a condition that is false or unknown, without its message": {
			`{}`, `{"conditions":[{"type":"NamespaceContentRemaining","status":"Unknown","message":"?"},{"type":"NamespaceDeletionDiscoveryFailure","status":"False","message":"fine"}]}`,
			&object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: object.DiscoveryFailure}, {Type: object.ContentRemaining}}, Finalized: true},
		},
		"leaves out conditions of others":          {`{}`, `{"conditions":[{"type":"Ready","status":"True"}]}`, &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}, Finalized: true}},
		"takes the first condition of a type":      {`{}`, `{"conditions":[{"type":"NamespaceContentRemaining","status":"False"},{"type":"NamespaceContentRemaining","status":"True"}]}`, &object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: object.ContentRemaining}}, Finalized: true}},
		"knows that its contents are gone":         {`{"finalizers":[]}`, `{}`, &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}, Finalized: true}},
		"of others' finalizers alone":              {`{"finalizers":["example.com/audit"]}`, `{}`, &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}, Finalizers: []string{"example.com/audit"}, Finalized: true}},
		"has no condition without a status":        {"", "", &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}}},
		"keeps finalizers of others in the spec":   {`{"finalizers":["kubernetes","example.com/audit"]}`, `{}`, &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}, Finalizers: []string{"example.com/audit"}}},
		"takes nothing from a malformed status":    {`{}`, `{"conditions":"none"}`, nil},
		"takes nothing from a malformed condition": {`{}`, `{"conditions":[{"type":1}]}`, nil},
		"takes nothing from a malformed spec":      {`[]`, `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			raw := func(s string) json.RawMessage {
				if s == "" {
					return nil
				}
				return json.RawMessage(s)
			}
			if diff := cmp.Diff(c.want, object.NamespaceStatusOf(raw(c.spec), raw(c.status))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongMessageOfConditionIsCut(t *testing.T) {
	status, err := json.Marshal(map[string]any{"conditions": []any{map[string]any{"type": object.ContentFailure, "status": "True", "message": strings.Repeat("ü", 10_000)}}})
	if err != nil {
		t.Fatal(err)
	}
	got := object.NamespaceStatusOf(nil, status).Conditions[0].Message
	if len(got) > 1010 || !utf8.ValidString(got) || !strings.HasSuffix(got, "ü…") {
		t.Errorf("%d bytes: %q", len(got), got[max(0, len(got)-20):])
	}
}

func TestNamespaceStatusFails(t *testing.T) {
	for condition, want := range map[string]bool{
		object.DiscoveryFailure: true, object.GroupVersionFailure: true, object.ContentFailure: true,
		object.ContentRemaining: false, object.FinalizersRemaining: false,
	} {
		s := object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: condition, True: true}}}
		if s.Fails() != want || !s.Is(condition) {
			t.Errorf("%s: fails %v, is true %v", condition, s.Fails(), s.Is(condition))
		}
		s.Conditions[0].True = false
		if s.Fails() || s.Is(condition) || len(s.True()) > 0 {
			t.Errorf("%s counts although it is false", condition)
		}
	}
}
