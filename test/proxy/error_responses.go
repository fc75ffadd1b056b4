package proxy

import (
	"encoding/json"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RespondStatus returns a handler that responds with a Status, as an API server does. more are
// names of headers, each followed by its value.
func RespondStatus(code int, reason metav1.StatusReason, message string, more ...string) http.HandlerFunc {
	return respondStatus(code, reason, message, nil, more...)
}

// RespondNotFound returns a handler that reports the requested object as absent, exactly as
// an API server does.
func RespondNotFound(resource, name string) http.HandlerFunc {
	return respondStatus(http.StatusNotFound, metav1.StatusReasonNotFound, resource+" \""+name+"\" not found", &metav1.StatusDetails{Name: name, Kind: resource})
}

func respondStatus(code int, reason metav1.StatusReason, message string, about *metav1.StatusDetails, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for pair := range slices.Chunk(more, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{ // fails if the client has disconnected
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Message: message, Reason: reason, Code: int32(code), Details: about,
		})
	}
}

// RespondUnknownPath responds like a server that does not know the path.
func RespondUnknownPath(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// Stall sends no response until the client gives up.
func Stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
