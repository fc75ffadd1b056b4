// Package explorer tests the page of kubectl gc report in a real browser.
package explorer
