package kubeconfig

import (
	"errors"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// removeURLCredentials moves user and password from the server's URL, which is printed
// and logged, to the config, unless that has other credentials. It also removes query
// and fragment, which client-go ignores.
func removeURLCredentials(config *rest.Config) error {
	if redact.URL(config.Host) == config.Host {
		return nil
	}
	scheme := ""
	if !strings.Contains(config.Host, "://") {
		scheme = "https://" // the scheme is optional
	}
	server, err := url.Parse(scheme + config.Host)
	if err != nil || server.Host == "" { // err quotes the URL
		return errors.New("the server's URL is not valid; in a user or password, write what is no letter or digit as %xx")
	}
	user := server.User
	server.User, server.RawQuery, server.ForceQuery, server.Fragment, server.RawFragment = nil, "", false, "", ""
	config.Host = strings.TrimPrefix(server.String(), scheme)
	if user == nil || hasCredentials(config) {
		return nil
	}
	config.Username = user.Username()
	config.Password, _ = user.Password()
	return nil
}

// hasCredentials reports whether a config has credentials other than a certificate.
func hasCredentials(c *rest.Config) bool {
	return c.Username != "" || c.BearerToken != "" || c.BearerTokenFile != "" || c.ExecProvider != nil || c.AuthProvider != nil
}
