package proxy

import "net/http"

// Rule answers those requests that it is about.
type Rule struct {
	About  func(*http.Request) bool
	Answer http.HandlerFunc
}

// First lets the first rule that is about a request answer it, or else rest.
func First(rules []Rule, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, rule := range rules {
			if rule.About(r) {
				rule.Answer(w, r)
				return
			}
		}
		rest.ServeHTTP(w, r)
	})
}
