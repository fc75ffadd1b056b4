package cluster

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAreThoseOfOnePage(t *testing.T) {
	requests := 0
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if r.URL.Path != "/api/v1/namespaces/ns/pods" || limit != namesLimit {
			t.Errorf("it asks for %s", r.URL)
		}
		var items []fields
		for i := range limit {
			items = append(items, item(fmt.Sprintf("pod-%03d", i)))
		}
		page := list(items...)
		page["metadata"] = fields{"resourceVersion": "10", "continue": "more"}
		answers(200, page)(w, r)
	}), Options{Timeout: time.Minute})
	got, err := Names(t.Context(), c, pods, "ns")
	if err != nil || requests != 1 || len(got) != namesLimit || got[0] != "pod-000" {
		t.Errorf("%d names after %d requests: %.5q, %v", len(got), requests, got, err)
	}
}

func TestThereAreNoNamesWhereThereIsAnError(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a refusal":                    answers(403, status(403, "Forbidden", "no", nil)),
		"a list of something else":     answers(200, fields{"apiVersion": "v1", "kind": "SecretList", "metadata": fields{"resourceVersion": "10"}, "items": []any{}}),
		"objects in another namespace": answers(200, list(item("a"))),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Names(t.Context(), connect(t, answer, Options{Timeout: time.Minute}), pods, "other")
			if diff := cmp.Diff([]string(nil), got); err == nil || diff != "" {
				t.Errorf("names %q and error %v", got, err)
			}
		})
	}
}
