package object_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// written returns an entry of managedFields with this content of f:metadata.
func written(manager string, minute int, metadata string) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":` + metadata + `}`),
	}
}

func managers(writes []object.Write) string {
	var out []string
	for _, w := range writes {
		out = append(out, w.Manager)
	}
	return strings.Join(out, " ")
}

func TestWritersInManagedFields(t *testing.T) {
	untimed := written("untimed", 0, `{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}}}`)
	untimed.Time = nil
	otherType := written("other", 0, `{"f:finalizers":{"v:\"x/y\"":{}}}`)
	otherType.FieldsType = "FieldsV2"
	empty := written("empty", 0, `{}`)
	empty.FieldsV1 = nil
	for name, c := range map[string]struct {
		entries    []metav1.ManagedFieldsEntry
		references map[types.UID]string
		finalizers map[string]string
	}{
		"no managedFields tell nothing": {nil, nil, nil},
		"each reference has its own writer": {
			[]metav1.ManagedFieldsEntry{
				written("one", 1, `{"f:ownerReferences":{".":{},"k:{\"uid\":\"a\"}":{}}}`),
				written("two", 2, `{"f:ownerReferences":{"k:{\"uid\":\"b\"}":{".":{},"f:name":{}}}}`),
			},
			map[types.UID]string{"a": "one", "b": "two"},
			nil,
		},
		"the latest of several writers is the last": {
			[]metav1.ManagedFieldsEntry{
				written("late", 9, `{"f:finalizers":{"v:\"x/y\"":{}}}`), written("early", 1, `{"f:finalizers":{".":{},"v:\"x/y\"":{}}}`),
			},
			nil,
			map[string]string{"x/y": "early late"},
		},
		"a writer without a time comes first": {
			[]metav1.ManagedFieldsEntry{written("timed", 1, `{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}}}`), untimed},
			map[types.UID]string{"a": "untimed timed"},
			nil,
		},
		"a list without its elements tells nothing": {
			[]metav1.ManagedFieldsEntry{written("one", 1, `{"f:ownerReferences":{},"f:finalizers":{".":{}}}`)}, nil, nil,
		},
		"the API server's own entries name no manager": {
			[]metav1.ManagedFieldsEntry{
				written("before-first-apply", 1, `{"f:finalizers":{"v:\"x/y\"":{}}}`), written("ancient-changes", 2, `{"f:finalizers":{"v:\"x/y\"":{}}}`), written("", 3, `{"f:finalizers":{"v:\"x/y\"":{}}}`),
			}, nil, nil,
		},
		"an entry that cannot be read tells nothing": {
			[]metav1.ManagedFieldsEntry{
				otherType, empty, written("a", 1, `7`), written("b", 1, `{"f:finalizers":{"v:x/y":{},"k:\"x/y\"":{},"v":{}}}`), written("c", 1, `{"f:ownerReferences":{"k:{\"name\":\"a\"}":{},"k:7":{}}}`),
			}, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := object.WritersOf(c.entries)
			references, finalizers := map[types.UID]string{}, map[string]string{}
			for uid, writes := range got.References {
				references[uid] = managers(writes)
			}
			for f, writes := range got.Finalizers {
				finalizers[f] = managers(writes)
			}
			if len(references)+len(c.references) > 0 && !cmp.Equal(c.references, references) || len(finalizers)+len(c.finalizers) > 0 && !cmp.Equal(c.finalizers, finalizers) {
				t.Errorf("references %v, finalizers %v; want %v, %v", references, finalizers, c.references, c.finalizers)
			}
		})
	}
}
