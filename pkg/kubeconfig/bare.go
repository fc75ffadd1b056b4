package kubeconfig

import (
	"errors"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// bare takes user and password out of the server's URL, which is printed and logged.
// They count, as they do where a request is sent to such a URL, unless there is another
// way to say who asks. A query and a fragment, which client-go ignores, go too.
func bare(config *rest.Config) error {
	if redact.URL(config.Host) == config.Host {
		return nil
	}
	scheme := ""
	if !strings.Contains(config.Host, "://") {
		scheme = "https://" // a host and a port are enough
	}
	server, err := url.Parse(scheme + config.Host)
	if err != nil || server.Host == "" { // the error quotes it
		return errors.New("the server's URL is not valid; in a user or password, write what is no letter or digit as %xx")
	}
	user := server.User
	server.User, server.RawQuery, server.ForceQuery, server.Fragment, server.RawFragment = nil, "", false, "", ""
	config.Host = strings.TrimPrefix(server.String(), scheme)
	if user == nil || says(config) {
		return nil
	}
	config.Username = user.Username()
	config.Password, _ = user.Password()
	return nil
}

// says whether a config says who asks, other than by a certificate.
func says(c *rest.Config) bool {
	return c.Username != "" || c.BearerToken != "" || c.BearerTokenFile != "" || c.ExecProvider != nil || c.AuthProvider != nil
}
