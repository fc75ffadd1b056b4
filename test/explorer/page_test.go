package explorer

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

func TestFilterFindings(t *testing.T) {
	p := openDemo(t)
	if got := p.text(`document.querySelectorAll("#list [role=option]").length`); got != "8" {
		t.Errorf("%s findings are listed", got)
	}
	p.click("[data-value=warning]")
	p.shows("ConfigMap/shared", "Job/import")
	p.choose("kind", "Job")
	p.shows("Job/import")
	p.click("[data-value=warning]") // undoes the filter
	p.choose("kind", "ConfigMap")
	p.choose("rule", "unserved-owner-version")
	p.shows("ConfigMap/flags")
}

func TestFilterFindingsByNamespace(t *testing.T) {
	p := openDemo(t)
	p.choose("ns", "monitoring")
	p.shows("StatefulSet/redis-exporter")
	p.choose("ns", "")
	p.shows("ClusterRole/web-metrics-reader")
}

func TestSearchFindings(t *testing.T) {
	p := openDemo(t)
	p.press("/")
	p.press(strings.Split("0826 KUBE-SYSTEM", "")...)
	p.shows("StatefulSet/redis-exporter")
}

func TestSearchObjects(t *testing.T) {
	p := openDemo(t)
	p.click("#tab-objects")
	for query, want := range map[string]string{
		"statefulset/redis-exporter": "StatefulSet/redis-exporter",
		"configmap shared":           "ConfigMap/shared",
		"monitoring pod/":            "Pod/redis-exporter-0",
		"0826-0":                     "Pod/redis-0826-0",
	} {
		p.search(query)
		p.shows(want)
	}
	p.search("0826-0")
	p.row("#list", "redis-0826-0")
	p.title("Pod/redis-0826-0")
	uid := p.text(`document.querySelector(".facts code").textContent`)
	p.search(uid)
	p.shows("Pod/redis-0826-0")
}

func TestClickShowsOwnersAndDependents(t *testing.T) {
	p := openDemo(t)
	p.row("#list", "redis-exporter")
	p.title("StatefulSet/redis-exporter")
	// owners above, dependents below, and the invalid reference as audit reports it
	if got := p.text(`[...document.querySelectorAll("#tree .card")].map((c) => c.textContent).join(" ")`); got != "RedisCluster/redis-0826 StatefulSet/redis-exporter ControllerRevision/redis-exporter-5dd5b9d9b4 Pod/redis-exporter-0" {
		t.Errorf("the family is %s", got)
	}
	if got := p.text(`document.querySelector("#tree .up .said.bad").textContent`); got != "owner RedisCluster/redis-0826 is in namespace kube-systemGC result for StatefulSet/redis-exporter: will be deleted" {
		t.Errorf("of the bad reference it says %s", got)
	}
	if got := p.text(`getComputedStyle(document.querySelector("#tree .up .card")).color`); got != "rgb(179, 38, 30)" {
		t.Errorf("the bad reference is drawn in %s", got)
	}
	p.row("#tree", "RedisCluster/redis-0826")
	p.title("RedisCluster/redis-0826")
	p.row("#tree", "Pod/redis-0826-0")
	p.title("Pod/redis-0826-0")
	p.do(chromedp.NavigateBack())
	p.title("RedisCluster/redis-0826")
	p.do(chromedp.NavigateBack())
	p.title("StatefulSet/redis-exporter")
	p.do(chromedp.NavigateForward())
	p.title("RedisCluster/redis-0826")
}

func TestObjectShowsGCResult(t *testing.T) {
	p := openDemo(t)
	p.click("#tab-objects")
	p.search("pod/redis-exporter-0")
	p.row("#list", "Pod/redis-exporter-0")
	p.title("Pod/redis-exporter-0")
	if got := p.text(`document.querySelector(".callout").textContent`); got != "The garbage collector will: deleteits owner is gone" {
		t.Errorf("the text about a Pod whose owner is deleted is %s", got)
	}
}

func TestPlanIsShownOnDemand(t *testing.T) {
	p := openDemo(t, "--plan")
	p.click("#tab-plan")
	p.shows("Secret/restored", "StatefulSet/redis-exporter", "ControllerRevision/redis-exporter-5dd5b9d9b4", "Pod/redis-exporter-0", "ConfigMap/shared", "Job/import")
	if got := p.text(`document.querySelector("#list .pill").textContent`); got != "delete" {
		t.Errorf("the first step is to %s", got)
	}
	without := openDemo(t)
	if got := without.text(`document.querySelector("#tab-plan")`); got != "null" {
		t.Errorf("there is a plan although none was requested")
	}
}

func TestKeyboardNavigation(t *testing.T) {
	p := openDemo(t, "--plan")
	p.press("j", "j", kb.Enter)
	p.title("StatefulSet/redis-exporter")
	p.press("k", kb.Enter)
	p.title("Secret/restored")
	p.press("o", "k", kb.Enter) // focuses the graph and moves up to the owner, which does not exist
	p.until(`document.querySelector("#panel .trail").textContent === "not read"`)
	p.press(kb.Escape)
	p.until(`document.querySelector("#panel .overview")`)
	p.press("2")
	p.until(`document.querySelector("#tab-objects[aria-selected=true]")`)
	p.press("3")
	p.until(`document.querySelector("#tab-plan[aria-selected=true]")`)
	p.press("?")
	p.until(`document.querySelector("#help[open]")`)
	p.press(kb.Escape)
	p.until(`!document.querySelector("#help[open]")`)
	p.search("deployment/old")
	p.press(kb.Enter, kb.Enter)
	p.title("ConfigMap/shared")
	p.press("/", kb.Escape)
	p.until(`document.querySelector("#search").value === ""`)
}

func TestSelectedRowIsAnnouncedToScreenReaders(t *testing.T) {
	p := openDemo(t)
	p.press("1", "/", kb.ArrowDown, "j")
	if got := p.text(`(() => { const box = document.activeElement; return box.getAttribute("role") + " " + document.getElementById(box.getAttribute("aria-activedescendant")).getAttribute("aria-posinset"); })()`); got != "listbox 2" {
		t.Errorf("it is announced as %s", got)
	}
	if got := p.text(`getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the focus is drawn as %s", got)
	}
	// every clickable element has an accessible name, and every role has the attributes that it
	// requires
	if got := p.text(`[...document.querySelectorAll("button, select, input, [role=tree], [role=listbox], [role=tablist]")].filter((n) => !(n.textContent.trim() || n.getAttribute("aria-label"))).length`); got != "0" {
		t.Errorf("%s controls have no name", got)
	}
}

func TestThemes(t *testing.T) {
	file := pageOf(t, demo)
	const ground = `getComputedStyle(document.body).backgroundColor`
	light, dark := "rgb(246, 247, 249)", "rgb(17, 20, 26)"
	p := open(t, file, "", browser.Look{})
	if got := p.text(ground); got != light {
		t.Errorf("on a light system the page is %s", got)
	}
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if got := p.text(ground); got != dark {
		t.Errorf("on a dark system the page is %s", got)
	}
	p.click("#theme") // light, whatever the system uses
	if got := p.text(ground); got != light {
		t.Errorf("turned to light the page is %s", got)
	}
	p.press("t")
	if got := p.text(ground); got != dark {
		t.Errorf("turned to dark the page is %s", got)
	}
	p.press("t") // as the system
}

// TestTextContrast expects a contrast of 4.5 to 1 between text and background, as WCAG AA
// requires.
func TestTextContrast(t *testing.T) {
	file := pageOf(t, demo)
	for name, look := range map[string]browser.Look{"light": {}, "dark": {Dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, file, "", look)
			p.row("#list", "ConfigMap/shared")
			p.title("ConfigMap/shared")
			if got := p.text(faint); got != "" {
				t.Errorf("these words are too faint: %s", got)
			}
		})
	}
}

// faint returns the elements with text whose contrast to the background is too low.
const faint = `(() => {
	const channels = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = channels(c).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = (n) => { for (; n; n = n.parentElement) { const c = getComputedStyle(n).backgroundColor; if ((channels(c)[3] ?? 1) > 0) { return c; } } return "rgb(255,255,255)"; };
	const out = [];
	for (const n of document.querySelectorAll("body *:not(script, style, noscript, option, .hidden, .skip)")) {
		if (![...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) || !n.checkVisibility()) continue;
		const [a, b] = [light(getComputedStyle(n).color), light(ground(n))].sort((x, y) => y - x);
		if ((a + 0.05) / (b + 0.05) < 4.5) out.push(n.tagName + "." + n.className + " " + ((a + 0.05) / (b + 0.05)).toFixed(2) + " " + n.textContent.slice(0, 20));
	}
	return out.join("; ");
})()`

func TestLinkRestoresView(t *testing.T) {
	file := pageOf(t, demo)
	first := open(t, file, "", browser.Look{})
	first.click("[data-value=error]")
	first.row("#list", "flags")
	first.title("ConfigMap/flags")
	again := open(t, file, first.text("location.hash"), browser.Look{})
	again.title("ConfigMap/flags")
	if got, want := again.titles(), first.titles(); got != want {
		t.Errorf("the list shows %s, and showed %s", got, want)
	}
}

func TestPrintShowsEverything(t *testing.T) {
	p := openDemo(t)
	p.row("#list", "redis-exporter")
	p.title("StatefulSet/redis-exporter")
	p.do(emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	if got := p.text(`document.querySelectorAll("#paper .row").length + " " + document.querySelectorAll("#paper .kin").length`); got != "8 4" {
		t.Errorf("rows and lines on paper: %s", got)
	}
	if got := p.text(`document.querySelector("#side").checkVisibility()`); got != "false" {
		t.Errorf("the list that scrolls is printed")
	}
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
	p.until(`document.querySelector("#paper").hidden`)
}

func TestHeaderDescribesScan(t *testing.T) {
	p := openDemo(t)
	head := p.text(`document.querySelector("#head").textContent`)
	for _, want := range []string{"cluster.json", "2026-11-20 10:50:06 UTC", "v1.36.3", "Complete scan"} {
		if !strings.Contains(head, want) {
			t.Errorf("it does not say %s: %s", want, head)
		}
	}
}

func TestPageFitsOnPhone(t *testing.T) {
	p := open(t, pageOf(t, demo), "", browser.Look{Width: 390, Height: 800})
	p.row("#list", "redis-exporter")
	p.title("StatefulSet/redis-exporter")
	if n := p.number(`document.documentElement.scrollWidth`); n > 390 {
		t.Errorf("it is %v wide", n)
	}
	p.click(".close")
	p.until(`document.querySelector("#list").checkVisibility()`)
}
