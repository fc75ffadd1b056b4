package explorer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

// unfound returns the texts in the rows of the present list by which a search does not find their row.
const unfound = `(() => {
	const box = document.querySelector("#search"), type = (q) => { box.value = q; box.dispatchEvent(new Event("input")); };
	const rows = [...document.querySelectorAll("#list [data-row]")].map((row) => {
		const walk = document.createTreeWalker(row, NodeFilter.SHOW_TEXT), texts = [];
		while (walk.nextNode()) { texts.push(walk.currentNode.textContent); }
		return [row.textContent, texts];
	});
	const out = [];
	for (const [whole, texts] of rows) {
		for (const text of texts) {
			type(text);
			if (![...document.querySelectorAll("#list [data-row]")].some((row) => row.textContent === whole)) { out.push(text); }
		}
	}
	type("");
	return rows.length + " rows without " + out.join(", ");
})()`

func TestSearchFindsWhatIsShown(t *testing.T) {
	p := openDemo(t, "--plan")
	for tab, want := range map[string]string{"#tab-findings": "8 rows without ", "#tab-plan": "6 rows without "} {
		p.click(tab)
		if got := p.text(unfound); got != want {
			t.Errorf("in %s: %s", tab, got)
		}
	}
	p.click("#tab-objects")
	if got := p.text(unfound); !strings.HasSuffix(got, " rows without ") {
		t.Error(got)
	}
	p.click("#tab-findings")
	for query, want := range map[string]string{
		"will be deleted":   "Secret/restored StatefulSet/redis-exporter",
		"never collected":   "ClusterRole/web-metrics-reader ConfigMap/chicken ConfigMap/flags",
		"replaced by a new": "Secret/restored",
		"fix unlink":        "ConfigMap/chicken",
	} {
		p.search(query)
		p.shows(want)
	}
}

func TestSearchWithoutResultsCanBeCleared(t *testing.T) {
	p := openDemo(t)
	p.search("nothing-has-this-name")
	p.until(`document.querySelector("#count").textContent === "0 rows of 8clear search"`)
	p.click("#count button")
	p.until(`document.querySelectorAll("#list [role=option]").length === 8 && document.activeElement.id === "search"`)
}

func TestFindingHasItsRepairAndItsRule(t *testing.T) {
	p := openDemo(t)
	p.row("#list", "redis-exporter")
	p.title("StatefulSet/redis-exporter")
	if got, want := p.text(`document.querySelector(".verdict code").textContent`), "kubectl gc repair statefulset/redis-exporter -n monitoring --rule cross-namespace-owner --dry-run --from cluster.json"; got != want {
		t.Errorf("beside the finding stands %s", got)
	}
	if got := p.text(`document.querySelector(".verdict a.rule").href`); got != "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rules.md#cross-namespace-owner" {
		t.Errorf("the rule leads to %s", got)
	}
	p.row("#list", "Job/import")
	p.title("Job/import")
	if got := p.text(`document.querySelector(".verdict code")`); got != "null" {
		t.Errorf("a command is said to repair what waits for another controller")
	}
}

func TestObjectsByState(t *testing.T) {
	p := openDemo(t)
	p.click("#tab-objects")
	p.click(`[data-value="will be deleted"]`)
	p.shows("ControllerRevision/redis-exporter-5dd5b9d9b4", "Pod/redis-exporter-0", "Secret/restored", "StatefulSet/redis-exporter")
	p.click(`[data-value="terminating"]`)
	p.shows("Job/import", "PersistentVolumeClaim/import-scratch")
	p.click(`[data-value="terminating"]`) // undoes the filter
	p.search("terminating")
	p.shows("Job/import", "PersistentVolumeClaim/import-scratch")
}

func TestOverviewBeginsWithTheWorstCause(t *testing.T) {
	l := newSnapshot(t)
	old := reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "old", UID: "gone"}
	web := l.add("apps/v1", "Deployment", "shop", "web")
	for i := range 60 {
		l.add("v1", "ConfigMap", "shop", fmt.Sprintf("c-%02d", i), old)
	}
	l.add("v1", "Secret", "shop", "alone", reference{APIVersion: "batch/v1", Kind: "Job", Name: "import", UID: "gone too"})
	for i := range 80 {
		l.add("v1", "Secret", "shop", fmt.Sprintf("s-%02d", i), web, reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "older", UID: "gone before"})
	}
	p := open(t, pageOf(t, l.save(t)), "", browser.Look{})
	if got, want := p.text(`[...document.querySelectorAll("button.cause")].map((b) => b.textContent).join("\n")`), `60Deployment/old does not existGC result: will be deletedConfigMap/c-00, ConfigMap/c-01, ConfigMap/c-02 and 57 more · missing-owner
1Job/import does not existGC result: will be deletedSecret/alone · missing-owner
80Deployment/older does not existGC result: kept, loses this referenceSecret/s-00, Secret/s-01, Secret/s-02 and 77 more · missing-owner`; got != want {
		t.Errorf("the causes are\n%s", got)
	}
	p.click("button.cause:nth-of-type(2)")
	p.shows("Secret/alone")
}

// clipped returns what has more text than it shows.
const clipped = `[...document.querySelectorAll("#list .row, #list .row *, #tree, #tree .kin, #tree .kin *, #panel article *")]
	.filter((n) => n.checkVisibility() && !n.matches(".hidden, svg, svg *") && getComputedStyle(n).display !== "inline" && (n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 1) && !(n.id === "tree" && n.scrollWidth <= n.clientWidth))
	.map((n) => n.className + ": " + n.textContent).join("\n")`

func TestNoTextIsClipped(t *testing.T) {
	l := newSnapshot(t)
	long := strings.Repeat("a-long-name-", 12)
	web := l.add("apps/v1", "Deployment", "shop", "web-"+long)
	l.add("v1", "ConfigMap", "kube-system", "c", web)
	l.add("v1", "ConfigMap", "shop", long, web, reference{APIVersion: "example.com/v1alpha1", Kind: "VirtualMachineInstanceReplicaSet", Name: long, UID: "gone"})
	file := map[string]string{"demo": pageOf(t, demo, "--plan"), "long names": pageOf(t, l.save(t), "--plan")}
	for name, rows := range map[string][]string{"demo": {"redis-exporter", "shared", "import-scratch"}, "long names": {"ConfigMap/c", long}} {
		for _, width := range []int64{1400, 500} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				p := open(t, file[name], "", browser.Look{Width: width, Height: 900})
				for _, tab := range []string{"objects", "plan", "findings"} {
					p.click("#tab-" + tab)
					if got := p.text(clipped); got != "" {
						t.Errorf("%s: clipped:\n%s", tab, got)
					}
				}
				for _, row := range rows {
					p.row("#list", row)
					p.until(`document.querySelector("#tree .kin")`)
					if got := p.text(clipped); got != "" {
						t.Errorf("%s: clipped:\n%s", row, got)
					}
					p.click(".close")
				}
			})
		}
	}
}

func TestFocusFollowsOnPhone(t *testing.T) {
	p := open(t, pageOf(t, demo), "", browser.Look{Width: 500, Height: 900})
	p.do(chromedp.Focus("#list", chromedp.ByQuery))
	p.press("j", "j", "\r")
	p.title("StatefulSet/redis-exporter")
	p.until(`document.activeElement.id === "object-title"`)
	p.click(".close")
	p.until(`document.activeElement.id === "list"`)
	if got := p.text(`document.querySelector("#" + document.activeElement.getAttribute("aria-activedescendant")).textContent`); !strings.Contains(got, "redis-exporter") {
		t.Errorf("the list is at %s", got)
	}
}
