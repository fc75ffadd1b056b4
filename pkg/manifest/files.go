// Package manifest reads which objects files name, as kubectl does for -f and -R: files,
// folders, patterns, URLs and standard input.
//
// cli-runtime can do the same, but it links the types of all API groups, which makes
// start-up slower.
package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// Files are the values of -f and -R.
type Files struct {
	Names     []string // files, folders, patterns and URLs; - is standard input
	Recursive bool     // read folders inside folders
	// Timeout limits one request to a URL of Names; 0 is no limit.
	Timeout time.Duration
}

// Any reports whether any file is named.
func (f Files) Any() bool { return len(f.Names) > 0 }

// extensions are those of files that are read in a folder. A file that is named
// itself may have any.
var extensions = []string{".json", ".yaml", ".yml"}

// Read returns the objects in the files, in their order.
func (f Files) Read(ctx context.Context, stdin io.Reader) ([]Named, error) {
	var out []Named
	stdinRead := false
	for _, name := range f.Names {
		var err error
		switch {
		case name == "-" && stdinRead:
			err = errors.New("standard input cannot be used for multiple arguments")
		case name == "-":
			stdinRead = true
			err = decode(stdin, "standard input", &out)
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			err = f.download(ctx, name, &out)
		case strings.Contains(name, "://"):
			err = fmt.Errorf("unable to read %q: only http:// and https:// are read", redact.URL(name))
		default:
			err = f.pattern(name, &out)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pattern reads the file or folder with this name or, if there is none, those that
// match it as a pattern.
func (f Files) pattern(name string, into *[]Named) error {
	paths := []string{name}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if paths, err = filepath.Glob(name); err != nil {
			return fmt.Errorf("pattern %q is not valid: %w", name, err)
		}
		if len(paths) == 0 {
			return fmt.Errorf("the path %q does not exist", name)
		}
	}
	found := false
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case name == path && isFolder(name), entry.IsDir() && f.Recursive:
				return nil
			case entry.IsDir():
				return fs.SkipDir
			case name != path && !slices.Contains(extensions, filepath.Ext(name)):
				return nil
			}
			found = true
			return readFile(name, into)
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("error reading %v: recognized file extensions are %v", paths, extensions)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func readFile(path string, into *[]Named) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // read only
	return decode(f, path, into)
}

// retries is how a request is repeated after a server error.
var retries = wait.Backoff{Duration: time.Second, Factor: 1, Steps: 3}

// download reads the objects at a URL.
func (f Files) download(ctx context.Context, address string, into *[]Named) error {
	var lastErr error
	source, client := redact.URL(address), http.Client{Timeout: f.Timeout}
	err := wait.ExponentialBackoffWithContext(ctx, retries, func(ctx context.Context) (done bool, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false, fmt.Errorf("the URL %q is not valid", source)
		}
		response, err := client.Do(request)
		if err != nil {
			lastErr = fmt.Errorf("unable to read URL %q: %w", source, withoutURL(err))
			return false, nil
		}
		defer response.Body.Close() // read only
		if response.StatusCode != http.StatusOK {
			lastErr = fmt.Errorf("unable to read URL %q, server reported %s, status code=%d", source, response.Status, response.StatusCode)
			if response.StatusCode < http.StatusInternalServerError {
				return false, lastErr
			}
			return false, nil
		}
		return true, decode(response.Body, source, into)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return lastErr
	}
	return err
}

// withoutURL removes the URL from an error.
func withoutURL(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		return urlErr.Err
	}
	return err
}
