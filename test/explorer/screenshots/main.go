// Command screenshots renders the page of kubectl gc report for the demo's snapshot, as the
// pictures of docs/report.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

// picture is one screenshot. The rows with these texts are clicked first.
type picture struct {
	name, fragment string
	look           browser.Look
	row            string
}

var pictures = []picture{
	{name: "report-light.png", look: laptop(false)},
	{name: "report-dark.png", look: laptop(true), row: "redis-exporter"},
	{name: "report-graph.png", look: laptop(false), fragment: "#view=objects&q=deployment/web&ns=:shop", row: "Deployment/web"},
	{name: "report-plan.png", look: laptop(true), fragment: "#view=plan", row: "ConfigMap/shared"},
}

func laptop(dark bool) browser.Look {
	return browser.Look{Dark: dark, Width: 1280, Height: 800, Scale: 1}
}

func main() {
	root := flag.String("root", "../..", "the repository")
	out := flag.String("out", "../../docs/images", "the folder to write to")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the pictures, and the words on them into words.txt, with which a test compares those
// of today.
func run(root, out string) error {
	words := ""
	err := visit(root, func(p picture, tab *browser.Tab, text string) error {
		words += text
		return tab.Do(chromedp.ActionFunc(func(ctx context.Context) error {
			shot, err := page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(out, p.name), shot, 0o644)
		}))
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "words.txt"), []byte(words), 0o644)
}

// digest is the one word that may change without the page looking different.
var digest = regexp.MustCompile(`Digest [0-9a-f]{16}`)

// visit shows the page as on each picture, and calls show with it and its words.
func visit(root string, show func(p picture, tab *browser.Tab, words string) error) error {
	chromium, err := browser.Find()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "screenshots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := browser.Build(root, folder)
	if err != nil {
		return err
	}
	report := filepath.Join(folder, "report.html")
	if err := browser.Report(program, filepath.Join(root, "docs/demo/cluster.json"), report, "--plan"); err != nil {
		return err
	}
	running, stop, err := browser.Start(context.Background(), chromium)
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range pictures {
		if err := p.visit(running, report, show); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (p picture) visit(running context.Context, report string, show func(p picture, tab *browser.Tab, words string) error) error {
	tab, err := browser.Open(running, report, p.fragment, p.look)
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := tab.Until(`document.querySelector("#panel article")`); err != nil {
		return err
	}
	if p.row != "" {
		row := fmt.Sprintf(`[...document.querySelectorAll("#list [data-row]")].find((r) => r.textContent.includes(%q))`, p.row)
		if err := tab.Until(row); err != nil {
			return err
		}
		if err := tab.Do(chromedp.Evaluate(row+".click()", nil)); err != nil {
			return err
		}
	}
	var words string
	if err := tab.Eval("document.body.innerText", &words); err != nil {
		return err
	}
	words = digest.ReplaceAllString(words, "Digest …")
	return show(p, tab, "# "+p.name+"\n\n"+words+"\n\n")
}
