package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// deleted is the output of a deletes process.
type deleted struct {
	Objects int           `json:"objects"`
	Took    time.Duration `json:"took"` // only of the DELETEs
}

// deletes sends bare DELETEs for all garbage, with UID and resourceVersion as
// preconditions, and discards the responses. It does not count the list before them.
func deletes(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet(deletesCommand, flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	streams := flags.Int("streams", 1, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	bare, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("prepare client: %w", err)
	}
	garbage, err := client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: garbageLabel})
	if err != nil {
		return fmt.Errorf("list garbage: %w", err)
	}

	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(*streams)
	for i := range garbage.Items {
		object := &garbage.Items[i].ObjectMeta
		group.Go(func() error {
			if err := remove(ctx, bare, config.Host, object); err != nil {
				return fmt.Errorf("delete %s: %w", object.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(deleted{len(garbage.Items), time.Since(begun)})
}

func remove(ctx context.Context, client *http.Client, server string, object *metav1.ObjectMeta) error {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":%q,"resourceVersion":%q},"propagationPolicy":"Background"}`, object.UID, object.ResourceVersion)
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, server+"/api/v1/namespaces/"+object.Namespace+"/configmaps/"+object.Name, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
