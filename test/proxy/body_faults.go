package proxy

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
)

// TruncateBody sends half of the server's response.
func TruncateBody(through http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		through.ServeHTTP(whole, r)
		replay(w, whole, whole.Body.Bytes()[:whole.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// CorruptBytes replaces some bytes of the server's response: a run of them for every few
// hundred, so that most responses are malformed and some are nearly valid.
func CorruptBytes(through http.Handler, random *rand.Rand) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		through.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		for range 1 + random.IntN(1+len(body)/400) {
			at := random.IntN(max(1, len(body)))
			for i := at; i < min(at+4, len(body)); i++ {
				body[i] = byte(random.Uint32())
			}
		}
		replay(w, whole, body)
	}
}

// replay sends a recorded response with another body.
func replay(w http.ResponseWriter, whole *httptest.ResponseRecorder, body []byte) {
	maps.Copy(w.Header(), whole.Header())
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(body) // fails if the client has disconnected
}
