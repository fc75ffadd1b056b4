// Package browser drives a headless Chromium over files, and records everything that must not
// happen: errors on the console, dialogs, and requests for anything but the file itself.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNone means that there is no browser.
var ErrNone = errors.New("there is no Chromium: make chromium installs it where it may, or name one in CHROMIUM")

// Find returns the path of the browser.
func Find() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Start runs a browser until the context ends.
func Start(ctx context.Context, program string) (context.Context, context.CancelFunc, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to start as root with its sandbox
	}
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	running, end := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {})) // it logs events that it does not know
	cancel := func() { end(); stop() }
	if err := chromedp.Run(running); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	return running, cancel, nil
}

// Tab is an open page.
type Tab struct {
	ctx      context.Context
	close    context.CancelFunc
	own      string
	mu       sync.Mutex
	troubles []string
}

// Look has the display settings of a page. The zero value is the light theme in a window as large
// as a laptop's.
type Look struct {
	Dark          bool
	Width, Height int64
	Scale         float64
}

// Open opens a file in a new tab.
func Open(browser context.Context, file, fragment string, look Look) (*Tab, error) {
	ctx, cancel := chromedp.NewContext(browser)
	t := &Tab{ctx: ctx, close: cancel, own: "file://" + file}
	chromedp.ListenTarget(ctx, t.hear)
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	if look.Width == 0 {
		look.Width, look.Height = 1360, 860
	}
	if look.Scale == 0 {
		look.Scale = 1
	}
	err := t.Do(network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(look.Width, look.Height, look.Scale, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(t.own+fragment))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	return t, nil
}

// Close closes the tab.
func (t *Tab) Close() { t.close() }

// patience is the time limit for anything in the page.
const patience = 30 * time.Second

// Do performs actions in the page.
func (t *Tab) Do(actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if t.ctx.Err() == nil && chromedp.FromContext(t.ctx).Target == nil {
		ctx = t.ctx // the context of the first run closes the tab when it ends
	}
	return chromedp.Run(ctx, actions...)
}

// Eval stores the result of an expression in value.
func (t *Tab) Eval(expression string, value any) error {
	return t.Do(chromedp.Evaluate(expression, value))
}

// Until waits until an expression is true.
func (t *Tab) Until(expression string) error {
	var ignored bool
	if err := t.Do(chromedp.Poll("Boolean("+expression+")", &ignored, chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(patience/2))); err != nil {
		return fmt.Errorf("%s: %w", expression, err)
	}
	return nil
}

// Troubles returns everything that must not have happened.
func (t *Tab) Troubles() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.troubles...)
}

func (t *Tab) hear(event any) {
	said := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url, _, _ := strings.Cut(e.Request.URL, "#"); url != t.own {
			said = "requests " + e.Request.URL
		}
	case *log.EventEntryAdded:
		said = string(e.Entry.Level) + ": " + e.Entry.Text
	case *runtime.EventExceptionThrown:
		said = "throws " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		said = "writes to the console"
	case *page.EventJavascriptDialogOpening:
		said = "opens a dialog: " + e.Message
		go func() { _ = t.Do(page.HandleJavaScriptDialog(true)) }()
	}
	if said != "" {
		t.mu.Lock()
		t.troubles = append(t.troubles, said)
		t.mu.Unlock()
	}
}
