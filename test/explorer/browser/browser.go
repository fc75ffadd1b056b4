// Package browser drives a headless Chromium over files, and notes what must not happen:
// errors on the console, dialogs, and requests for anything but the file itself.
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

// ErrNone says that there is nothing to drive.
var ErrNone = errors.New("there is no Chromium: make chromium installs it where it may, or name one in CHROMIUM")

// Find is the program to drive.
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
		options = append(options, chromedp.NoSandbox) // it refuses to start otherwise
	}
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	running, end := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {})) // it tells of events that it does not know
	cancel := func() { end(); stop() }
	if err := chromedp.Run(running); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	return running, cancel, nil
}

// Tab is one page that is open.
type Tab struct {
	ctx      context.Context
	close    context.CancelFunc
	own      string
	mu       sync.Mutex
	troubles []string
}

// Look is how a page is looked at. The zero value is light, and as large as a laptop shows.
type Look struct {
	Dark          bool
	Width, Height int64
	Scale         float64
}

// Open shows a file in a tab of its own.
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

// Close ends the tab.
func (t *Tab) Close() { t.close() }

// patience is how long anything in the page may take.
const patience = 30 * time.Second

// Do does things in the page.
func (t *Tab) Do(actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if t.ctx.Err() == nil && chromedp.FromContext(t.ctx).Target == nil {
		ctx = t.ctx // the first run of a tab owns it
	}
	return chromedp.Run(ctx, actions...)
}

// Eval answers the value of an expression.
func (t *Tab) Eval(expression string, value any) error {
	return t.Do(chromedp.Evaluate(expression, value))
}

// Until waits for an expression to be true.
func (t *Tab) Until(expression string) error {
	var ignored bool
	if err := t.Do(chromedp.Poll("Boolean("+expression+")", &ignored, chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(patience/2))); err != nil {
		return fmt.Errorf("%s: %w", expression, err)
	}
	return nil
}

// Troubles are what happened that must not.
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
