package write

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// watched returns a server that lists Pods and then streams events.
func watched(list, events http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Get("sendInitialEvents") != "":
			clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "sendInitialEvents is not known here", nil))(w, r)
		case q.Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			events(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			list(w, r)
		}
	}
}

// listing returns a list of Pods.
func listing(items ...clustertest.Fields) http.HandlerFunc {
	return clustertest.ReplyWith(200, clustertest.Fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": clustertest.Fields{"resourceVersion": "7"}, "items": items})
}

func TestFollow(t *testing.T) {
	const path = "GET /api/v1/namespaces/ns/pods"
	said := func(kind string, o clustertest.Fields) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(clustertest.Fields{"type": kind, "object": o})
		}
	}
	silence := func(http.ResponseWriter, *http.Request) {}
	forbidden := clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "pods is forbidden", nil))
	for name, test := range map[string]struct {
		answers map[string][]http.HandlerFunc
		want    []string
	}{
		"what a list lacks, and a request for it does not find, is gone": {
			map[string][]http.HandlerFunc{path: {watched(listing(), silence)}, "GET " + onePod: {clustertest.NotFound()}},
			[]string{"gone"},
		},
		"what a list lacks, and a request for it finds, is not gone": {
			map[string][]http.HandlerFunc{
				path:            {watched(listing(), said("DELETED", clustertest.AsMetadata("uid-x", "8", nil)))},
				"GET " + onePod: {clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "5", nil))},
			},
			[]string{"5", "gone"},
		},
		"what another object of its name took the place of is gone": {
			map[string][]http.HandlerFunc{
				path:            {watched(listing(clustertest.AsMetadata("uid-of-another", "5", nil)), silence)},
				"GET " + onePod: {clustertest.ReplyWith(200, clustertest.AsMetadata("uid-of-another", "5", nil))},
			},
			[]string{"gone"},
		},
		"what an event of another object says with its UID is not heard": {
			map[string][]http.HandlerFunc{path: {watched(listing(clustertest.AsMetadata("uid-x", "5", nil)), func(w http.ResponseWriter, r *http.Request) {
				said("DELETED", clustertest.AsMetadata("uid-x", "8", clustertest.Fields{"name": "y"}))(w, r)
				said("DELETED", clustertest.AsMetadata("uid-x", "9", nil))(w, r)
			})}},
			[]string{"5", "gone"},
		},
		"what is there is told, and then that it went": {
			map[string][]http.HandlerFunc{path: {watched(listing(clustertest.AsMetadata("uid-x", "5", nil)), said("DELETED", clustertest.AsMetadata("uid-x", "8", nil)))}},
			[]string{"5", "gone"},
		},
		"where neither lists nor watches are allowed, the object is asked for": {
			map[string][]http.HandlerFunc{
				path:            {watched(forbidden, forbidden), watched(forbidden, forbidden), watched(listing(), silence)},
				"GET " + onePod: {clustertest.NotFound()},
			},
			[]string{"gone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, test.answers)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var given []string
			w.Watch(ctx, []object.Identity{podX().Identity}, func(_ types.UID, o *object.Object) {
				if o == nil {
					given = append(given, "gone")
					return
				}
				given = append(given, o.ResourceVersion)
			})
			if ctx.Err() != nil {
				t.Error("it follows what is gone")
			}
			if !slices.Equal(given, test.want) {
				t.Errorf("told %v, want %v", given, test.want)
			}
		})
	}
}
