package explorer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

var (
	running context.Context // the browser
	program string          // kubectl-gc
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	chromium, err := browser.Find()
	if err != nil {
		fmt.Println("SKIPPED, NOT TESTED: the page of kubectl gc report:", err)
		return 0
	}
	folder, err := os.MkdirTemp("", "explorer")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(folder)
	if program, err = browser.Build("../..", folder); err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, stop, err := browser.Start(context.Background(), chromium)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer stop()
	running = ctx
	return m.Run()
}

// page is a report in its own tab.
type page struct {
	*testing.T
	tab *browser.Tab
}

// pageOf writes the page for a snapshot.
func pageOf(t *testing.T, snapshot string, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := browser.Report(program, snapshot, file, flags...); err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a page. When the test ends, the page must have caused no errors, dialogs or
// requests.
func open(t *testing.T, file, fragment string, look browser.Look) page {
	t.Helper()
	tab, err := browser.Open(running, file, fragment, look)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, trouble := range tab.Troubles() {
			t.Errorf("the page %s", trouble)
		}
		tab.Close()
	})
	p := page{t, tab}
	p.until(`document.querySelector("#panel article")`)
	return p
}

const demo = "../../docs/demo/cluster.json"

func openDemo(t *testing.T, flags ...string) page {
	t.Helper()
	return open(t, pageOf(t, demo, flags...), "", browser.Look{})
}

func (p page) do(actions ...chromedp.Action) {
	p.Helper()
	if err := p.tab.Do(actions...); err != nil {
		p.Fatal(err)
	}
}

func (p page) until(expression string) {
	p.Helper()
	if err := p.tab.Until(expression); err != nil {
		p.Fatal(err)
	}
}

func (p page) text(expression string) (said string) {
	p.Helper()
	if err := p.tab.Eval("String("+expression+")", &said); err != nil {
		p.Fatal(err)
	}
	return said
}

func (p page) number(expression string) (n float64) {
	p.Helper()
	if err := p.tab.Eval(expression, &n); err != nil {
		p.Fatal(err)
	}
	return n
}

// press presses keys one after the other, wherever the focus is. As on a keyboard, a letter is
// typed unless the page handles the key.
func (p page) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		if len(key) > 1 || key < " " {
			p.do(chromedp.KeyEvent(key))
			continue
		}
		p.do(input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(key), input.DispatchKeyEvent(input.KeyUp).WithKey(key))
	}
}

// search replaces the text of the search field.
func (p page) search(query string) {
	p.Helper()
	p.do(chromedp.Evaluate(`document.querySelector("#search").focus(), document.querySelector("#search").select()`, nil))
	p.press(strings.Split(query, "")...)
}

// click clicks on the first element that matches a selector.
func (p page) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(selector, chromedp.ByQuery))
}

// row clicks on the first row of a list that contains a text.
func (p page) row(list, text string) {
	p.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((r) => r.textContent.includes(%q))`, list+" [data-row]", text)
	if err := p.tab.Until(find); err != nil {
		p.Fatalf("no row says %s: %s", text, p.text(`document.querySelector("#list").textContent`))
	}
	p.do(chromedp.Evaluate(find+".click()", nil))
}

// title waits until an object is shown.
func (p page) title(want string) {
	p.Helper()
	p.until(fmt.Sprintf(`document.querySelector("#panel h1").textContent === %q`, want))
}

// titles returns the names in the list, from top to bottom.
func (p page) titles() string {
	p.Helper()
	return p.text(`[...document.querySelectorAll("#list .title")].map((n) => n.textContent).join(" ")`)
}

// shows waits until the list shows exactly these names.
func (p page) shows(want ...string) {
	p.Helper()
	list := strings.Join(want, " ")
	if err := p.tab.Until(fmt.Sprintf(`[...document.querySelectorAll("#list .title")].map((n) => n.textContent).join(" ") === %q`, list)); err != nil {
		p.Fatalf("the list shows %s, want %s", p.titles(), list)
	}
}

// choose chooses an option of a filter.
func (p page) choose(key, value string) {
	p.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const box = document.querySelector("select[data-key=%s]"); box.value = %q; box.dispatchEvent(new Event("change")); })()`, key, ":"+value), nil))
}
