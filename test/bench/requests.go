package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// counter reads an API server's metrics.
type counter struct {
	client *http.Client
	server string
}

func newCounter(kubeconfig string) (*counter, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare client: %w", err)
	}
	return &counter{client, config.Host}, nil
}

// read returns the response at a path.
func (c *counter) read(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	defer response.Body.Close() // read only
	data, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("ask for %s: %s", path, response.Status)
	}
	return data, nil
}

// metrics returns all metrics, one per line.
func (c *counter) metrics(ctx context.Context) ([]byte, error) { return c.read(ctx, "/metrics") }

// requests are the numbers of requests by verb, without watches and requests about no
// resource.
type requests map[string]int

// less returns the difference to earlier numbers.
func (r requests) less(before requests) requests {
	out := requests{}
	for verb, n := range r {
		if n > before[verb] {
			out[verb] = n - before[verb]
		}
	}
	return out
}

// requests returns the requests since the server's start, with each page of a list counted,
// only for the named resources if there are any. They include the few requests of the
// server to itself.
func (c *counter) requests(ctx context.Context, of ...string) (requests, error) {
	data, err := c.metrics(ctx)
	if err != nil {
		return nil, fmt.Errorf("count requests: %w", err)
	}
	return tally(data, of)
}

var (
	countLine     = regexp.MustCompile(`(?m)^apiserver_request_total\{([^}]*)\} (\S+)$`)
	countVerb     = regexp.MustCompile(`(?:^|,)verb="(\w+)"`)
	countResource = regexp.MustCompile(`(?:^|,)resource="([^"]+)"`)
)

func tally(metrics []byte, resources []string) (requests, error) {
	out := requests{}
	for _, found := range countLine.FindAllSubmatch(metrics, -1) {
		verb, resource := countVerb.FindSubmatch(found[1]), countResource.FindSubmatch(found[1])
		if verb == nil || resource == nil || string(verb[1]) == "WATCH" || len(resources) > 0 && !slices.Contains(resources, string(resource[1])) {
			continue
		}
		n, err := strconv.ParseFloat(string(found[2]), 64)
		if err != nil {
			return nil, fmt.Errorf("count requests: %w", err)
		}
		out[string(verb[1])] += int(n)
	}
	return out, nil
}
