package redact_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

func TestURL(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                            {"", ""},
		"a URL without credentials":          {"https://one:6443/base", "https://one:6443/base"},
		"a host and a port":                  {"10.0.0.1:6443", "10.0.0.1:6443"},
		"an IPv6 address":                    {"https://[::1]:6443/x", "https://[::1]:6443/x"},
		"an @ in a path":                     {"https://cdn.example.com/pkg@1.2/x.yaml", "https://cdn.example.com/pkg@1.2/x.yaml"},
		"a request to the API":               {"https://one/api/v1/pods?limit=500&continue=abc", "https://one/api/v1/pods?limit=500&continue=abc"},
		"a user and a password":              {"https://me:hunter2@one:6443/x", "https://REDACTED@one:6443/x"},
		"a user alone, which may be a token": {"https://hunter2@one/x", "https://REDACTED@one/x"},
		"no scheme":                          {"me:hunter2@one:6443", "REDACTED@one:6443"},
		"slashes and no scheme":              {"//me:hunter2@one:6443", "REDACTED@one:6443"},
		"a slash too many":                   {"http:///me:hunter2@one:6443", "http://REDACTED@one:6443"},
		"an @ in the password":               {"https://me:hun@ter2@one", "https://REDACTED@one"},
		"a slash in the password":            {"https://me:hun/ter2@one", "https://REDACTED@one"},
		"a question mark in the password":    {"https://me:hun?ter2@one", "https://REDACTED@one"},
		"the beginning of a password":        {"https://me:hunter2", "https://REDACTED"},
		"a token in the query":               {"https://one/x?token=hunter2", "https://one/x?REDACTED"},
		"a token beside something harmless":  {"https://one/x?limit=5&sig=hunter2", "https://one/x?limit=5&REDACTED"},
		"a token in the place of a name":     {"https://one/x?hunter2==", "https://one/x?REDACTED"},
		"a fragment":                         {"https://one/x#access_token=hunter2", "https://one/x#REDACTED"},
	} {
		t.Run(name, func(t *testing.T) {
			got := redact.URL(c.in)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if again := redact.URL(got); again != got {
				t.Errorf("redacted again: %q", again)
			}
		})
	}
}

// A user may have typed a password without percent-encoding it.
func TestNoPasswordIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const before, after = "hunter", "secret" // a fragment of the password must not be left either
		password := before + rapid.String().Draw(t, "password") + after
		if rapid.Bool().Draw(t, "encoded") {
			password = url.PathEscape(password)
		}
		host := rapid.SampledFrom([]string{"one", "one:6443", "[::1]:1", "10.0.0.1:6443"}).Draw(t, "host")
		path := rapid.StringMatching(`(/[a-z@:]{0,4}){0,3}(\?(limit=[a-z@]{0,3}|x))?(#[a-z]{0,2})?`).Draw(t, "path")
		address := rapid.SampledFrom([]string{"", "//", "https://", "http://", "http:///", "socks5://"}).Draw(t, "scheme") + "me:" + password + "@" + host + path
		for _, got := range []string{
			redact.URL(address),
			redact.Error(fmt.Errorf("dial %s, also known as %q: refused", address, address), address).Error(),
		} {
			if strings.Contains(got, before) || strings.Contains(got, after) {
				t.Errorf("%q becomes %q", address, got)
			}
		}
	})
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`Get "https://me:hunter2@one:6443/api?timeout=30s": refused`:          `Get "https://REDACTED@one:6443/api?timeout=30s": refused`,
		"fetch https://hunter2@one/a https://me:hunter2@two/b: exit code 1":   "fetch https://REDACTED@one/a https://REDACTED@two/b: exit code 1",
		"no answer from https://one:6443: refused":                            "no answer from https://one:6443: refused",
		"no answer from https://[::1]:6443, or http://[::1]: (http://one:1).": "no answer from https://[::1]:6443, or http://[::1]: (http://one:1).",
		"no answer from https://me:hunter2@one:6443: refused":                 "no answer from https://REDACTED@one:6443: refused",
		"cut off: https://me:hunter2: refused":                                "cut off: https://REDACTED: refused",
		"nothing to see, a@b":                                                 "nothing to see, a@b",
	} {
		if got := redact.Text(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorReturnsAnErrorWithoutCredentialsUnchanged(t *testing.T) {
	err := errors.New("no route to https://one:6443")
	if got := redact.Error(err, "https://one:6443"); any(got) != any(err) { // errors.Is would allow another error around it
		t.Errorf("got %v", got)
	}
	if redact.Error(nil) != nil {
		t.Error("no error became one")
	}
}
