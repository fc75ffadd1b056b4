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
	return c.EachPage(ctx, q, options, func(items []json.RawMessage, _ int) (more bool, err error) {
		for _, raw := range items {
			var item T
			if _, err := ReadItem(raw, q, q.Metadata); err != nil {
				return false, err
			}
			if err := json.Unmarshal(raw, &item); err != nil {
				return false, fmt.Errorf("decode a %s: %w", q.Type.Kind, err)
			}
			if !each(item) {
				return false, nil
			}
		}
		return true, nil
	})
}

// EachPage calls each for the undecoded whole objects of every page of a list, and with how many objects
// the list has as far as is known, until each reports that it needs no more.
func (c *Client) EachPage(ctx context.Context, q Query, options metav1.ListOptions, each func(items []json.RawMessage, total int) (more bool, err error)) error {
	accept := AcceptWhole
	if q.Metadata {
		accept = acceptListJSON
	}
	for list := (Pages{}); ; options.Continue = list.Continue {
		raw, err := c.Fetch(ctx, q, accept, options)
		if err != nil {
			return err
		}
		held := int64(len(raw)) * jsonCost
		more := false
		if err = c.Memory.Take(held); err == nil {
			more, err = readWholePage(raw, q, &list, each)
		}
		c.Memory.Release(held)
		if err != nil || !more {
			return err
		}
	}
}

func readWholePage(raw []byte, q Query, list *Pages, each func([]json.RawMessage, int) (bool, error)) (more bool, err error) {
	items, meta, err := ReadPage(raw, q, q.Metadata)
	if err != nil {
		return false, err
	}
	if more, err = list.Next(meta, len(items)); err != nil {
		return false, err
	}
	wanted, err := each(items, list.total)
	return more && wanted, err
}
