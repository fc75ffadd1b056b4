package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// Files are what -f, -R and -k say.
type Files struct {
	Names     []string // files, folders, patterns and URLs; - is standard input
	Recursive bool     // whether folders in folders count
	Kustomize string   // a folder or URL
}

// Any says whether there are such files.
func (f Files) Any() bool { return len(f.Names) > 0 || f.Kustomize != "" }

// extensions are those of the files in a folder that count; a file that is named
// itself may have any.
var extensions = []string{".json", ".yaml", ".yml"}

// Read answers the objects that the files name, in their order.
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
			err = decode(recoded(stdin), "standard input", &out)
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			err = download(ctx, name, &out)
		case strings.Contains(name, "://"):
			err = fmt.Errorf("unable to read %q: only http:// and https:// are read", redact.URL(name))
		default:
			err = f.pattern(name, &out)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.Kustomize != "" {
		if err := kustomize(ctx, f.Kustomize, &out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pattern reads the file or folder of that name; where there is none, all those
// that the pattern matches.
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
	read := false
	for _, path := range paths {
		err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case at == path && isFolder(at), entry.IsDir() && f.Recursive:
				return nil
			case entry.IsDir():
				return fs.SkipDir
			case at != path && !slices.Contains(extensions, filepath.Ext(at)):
				return nil
			}
			read = true
			return file(at, into)
		})
		if err != nil {
			return err
		}
	}
	if !read {
		return fmt.Errorf("error reading %v: recognized file extensions are %v", paths, extensions)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func file(path string, into *[]Named) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // read only
	return decode(recoded(f), path, into)
}

// recoded is in UTF-8 what a program wrote that marks another encoding.
func recoded(in io.Reader) io.Reader {
	return transform.NewReader(in, unicode.BOMOverride(unicode.UTF8.NewDecoder()))
}
