// Command screenshots renders the page of kubectl gc report for the demo's snapshot, as the
// pictures of docs/report.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

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

func run(root, out string) error {
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
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range pictures {
		if err := p.take(running, report, filepath.Join(out, p.name)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (p picture) take(running context.Context, report, file string) error {
	tab, err := browser.Open(running, report, p.fragment, p.look)
	if err != nil {
		return err
	}
	defer tab.Close()
	if p.row != "" {
		row := fmt.Sprintf(`[...document.querySelectorAll("#list [data-row]")].find((r) => r.textContent.includes(%q))`, p.row)
		if err := tab.Until(row); err != nil {
			return err
		}
		if err := tab.Do(chromedp.Evaluate(row+".click()", nil)); err != nil {
			return err
		}
	}
	var shot []byte
	err = tab.Do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		shot, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
		return err
	}))
	if err != nil {
		return err
	}
	return os.WriteFile(file, shot, 0o644)
}
