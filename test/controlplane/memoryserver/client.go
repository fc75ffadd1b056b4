package memoryserver

import (
	"context"
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

var (
	errNoName      = errors.New("name is required")
	errNoWatch     = errors.New("watch is not implemented: use TakeEvents")
	errSubresource = errors.New("subresources are not implemented")
	errSelector    = errors.New("selectors are not implemented")
)

// Client returns a client of the server. Its lists are complete (no pages), and it cannot watch.
func (s *Server) Client() metadata.Interface { return client{s} }

type client struct{ server *Server }

func (c client) Resource(gvr schema.GroupVersionResource) metadata.Getter {
	return resourceClient{c.server, gvr, ""}
}

type resourceClient struct {
	server    *Server
	gvr       schema.GroupVersionResource
	namespace string
}

func (c resourceClient) Namespace(namespace string) metadata.ResourceInterface {
	c.namespace = namespace
	return c
}

// requireObject returns an error if a request is not one of an object itself.
func requireObject(name string, subresources []string) error {
	if name == "" {
		return errNoName
	}
	if len(subresources) > 0 {
		return errSubresource
	}
	return nil
}

func requireAll(options metav1.ListOptions) error {
	if options.LabelSelector != "" || options.FieldSelector != "" {
		return errSelector
	}
	return nil
}

// Get implements metadata.ResourceInterface.
func (c resourceClient) Get(_ context.Context, name string, _ metav1.GetOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := requireObject(name, subresources); err != nil {
		return nil, err
	}
	return metadataOf(c.server.Get(c.gvr, c.namespace, name))
}

// List implements metadata.ResourceInterface.
func (c resourceClient) List(_ context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	if err := requireAll(options); err != nil {
		return nil, err
	}
	objects, err := c.server.List(c.gvr, c.namespace)
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(c.server.Writes())}}
	for _, o := range objects {
		list.Items = append(list.Items, o.PartialObjectMetadata)
	}
	return list, nil
}

// Delete implements metadata.ResourceInterface.
func (c resourceClient) Delete(_ context.Context, name string, options metav1.DeleteOptions, subresources ...string) error {
	if err := requireObject(name, subresources); err != nil {
		return err
	}
	return c.server.Delete(c.gvr, c.namespace, name, options)
}

// DeleteCollection implements metadata.ResourceInterface.
func (c resourceClient) DeleteCollection(_ context.Context, options metav1.DeleteOptions, which metav1.ListOptions) error {
	if err := requireAll(which); err != nil {
		return err
	}
	return c.server.DeleteCollection(c.gvr, c.namespace, options)
}

// Patch implements metadata.ResourceInterface.
func (c resourceClient) Patch(_ context.Context, name string, patchType types.PatchType, patch []byte, options metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := requireObject(name, subresources); err != nil {
		return nil, err
	}
	if len(options.DryRun) > 0 {
		return nil, errDryRun
	}
	return metadataOf(c.server.Patch(c.gvr, c.namespace, name, patchType, patch))
}

// Watch implements metadata.ResourceInterface. It always fails.
func (c resourceClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errNoWatch
}

func metadataOf(o *Object, err error) (*metav1.PartialObjectMetadata, error) {
	if err != nil {
		return nil, err
	}
	return &o.PartialObjectMetadata, nil
}
