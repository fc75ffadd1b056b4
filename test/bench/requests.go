package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// counter asks an API server how many lists it has answered.
type counter struct {
	client *http.Client
	url    string
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
	return &counter{client, config.Host + "/metrics"}, nil
}

var listCount = regexp.MustCompile(`(?m)^apiserver_request_total\{[^}]*verb="LIST"[^}]*\} (\S+)$`)

// lists is how many lists, pages counted each, were answered since the server's start. It
// does list something itself now and then, but only once in a while.
func (c *counter) lists(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return 0, fmt.Errorf("count requests: %w", err)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("count requests: %w", err)
	}
	defer response.Body.Close() // read only
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("count requests: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("count requests: %s", response.Status)
	}
	return sumOfLists(data)
}

func sumOfLists(metrics []byte) (int, error) {
	sum := 0.0
	for _, found := range listCount.FindAllSubmatch(metrics, -1) {
		n, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return 0, fmt.Errorf("count requests: %w", err)
		}
		sum += n
	}
	return int(sum), nil
}
