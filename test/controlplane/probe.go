package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// newClient returns a client that trusts only servers of this run.
func newClient(authority []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			Proxy:           nil, // loopback never needs a proxy, whatever the environment says
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			// An open connection would keep its server from stopping.
			DisableKeepAlives: true,
		},
	}
}

// get requests url and succeeds if the response has status 200. The token may be empty.
func get(ctx context.Context, client *http.Client, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return send(client, request)
}

// send sends a request and succeeds if the response has status 200.
func send(client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", request.Method, request.URL, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
