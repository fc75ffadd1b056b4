package client

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GetWhole reads the object that the query names into a struct with the fields that are used of
// it, under their names in JSON, in upper or lower case.
func GetWhole(ctx context.Context, c *Client, q Query, into any) error {
	raw, err := c.Fetch(ctx, q, AcceptWhole, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err := ReadObject(raw, q, false); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode a %s: %w", q.Type.Kind, err)
	}
	return nil
}

// maxWhole is how many objects ListWhole returns, on pages of wholePage objects.
const maxWhole, wholePage = 2000, 500

// ListWhole is like GetWhole for the objects of a list that the options select, but at most
// maxWhole of them.
func ListWhole[T any](ctx context.Context, c *Client, q Query, options metav1.ListOptions) (out []T, err error) {
	options.Limit = wholePage
	err = EachWhole(ctx, c, q, options, func(item T) bool {
		out = append(out, item)
		return len(out) < maxWhole
	})
	return out, err
}

// EachWhole is like GetWhole for each object of a list, until each returns false.
func EachWhole[T any](ctx context.Context, c *Client, q Query, options metav1.ListOptions, each func(T) bool) error {
	for list := (Pages{}); ; options.Continue = list.Continue {
		raw, err := c.Fetch(ctx, q, AcceptWhole, options)
		if err != nil {
			return err
		}
		items, meta, err := ReadPage(raw, q, false)
		if err != nil {
			return err
		}
		for _, raw := range items {
			var item T
			if _, err := ReadItem(raw, q, false); err != nil {
				return err
			}
			if err := json.Unmarshal(raw, &item); err != nil {
				return fmt.Errorf("decode a %s: %w", q.Type.Kind, err)
			}
			if !each(item) {
				return nil
			}
		}
		if more, err := list.Next(meta, len(items)); err != nil || !more {
			return err
		}
	}
}
