package explorer

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

// large returns a snapshot with 50,000 objects: one owner has 4,820 dependents, and every
// hundredth Deployment does not exist.
func large(t *testing.T) (file string, objects int) {
	l := newSnapshot(t)
	fan := l.add("v1", "ConfigMap", "ns-00", "fan")
	for i := range 4820 {
		l.add("v1", "Secret", "ns-00", fmt.Sprintf("fan-%04d", i), fan)
	}
	for i := 0; len(l.objects) < 50_000; i++ {
		ns := fmt.Sprintf("ns-%02d", i%50)
		web := reference{"apps/v1", "Deployment", fmt.Sprintf("web-%04d", i), "gone", true}
		if i%100 != 0 {
			web = l.add("apps/v1", "Deployment", ns, fmt.Sprintf("web-%04d", i))
		}
		set := l.add("apps/v1", "ReplicaSet", ns, fmt.Sprintf("web-%04d-5f6d8c9b7", i), web)
		for k := range 6 {
			l.add("v1", "Pod", ns, fmt.Sprintf("web-%04d-5f6d8c9b7-%05d", i, k), set)
		}
	}
	return l.save(t), len(l.objects)
}

func TestPageWithFiftyThousandObjectsIsResponsive(t *testing.T) {
	look, objects := large(t)
	file := pageOf(t, look, "--plan")
	if info, err := os.Stat(file); err == nil {
		t.Logf("the file has %.1f MB", float64(info.Size())/1e6)
	}
	p := open(t, file, "", browser.Look{})
	t.Logf("first view after %.0f ms", p.number(`performance.getEntriesByName("shown")[0].startTime`))
	t.Logf("the first search takes %.0f ms, further ones %.0f ms", p.number(searching("web-0777-5f6d8c9b7-0000")), p.number(searching("ns-07 pod/")))
	p.press("2")
	p.search("web-0777-5f6d8c9b7-00003")
	p.shows("Pod/web-0777-5f6d8c9b7-00003")
	p.press(kb.Enter, kb.Enter)
	p.title("Pod/web-0777-5f6d8c9b7-00003")
	p.row("#tree", "Deployment/web-0777")
	p.title("Deployment/web-0777")

	p.press(kb.Escape)
	p.do(chromedp.Evaluate(`location.hash = "#view=objects&object=ConfigMap-fan"`, nil))
	p.title("ConfigMap/fan")
	p.row("#tree", "and 4,812 more")
	p.until(`document.querySelector("#tree [aria-setsize='4821']")`)
	p.press("o", kb.End)
	p.until(`document.querySelector("#tree").textContent.includes("Secret/fan-4819")`)

	p.click("#tab-objects")
	p.until(fmt.Sprintf(`document.querySelector("#list [aria-setsize='%d']")`, objects))
	p.do(chromedp.Focus("#list", chromedp.ByQuery))
	p.press(kb.End)
	p.until(`document.querySelector("#list").textContent.includes("Secret/fan-4819")`)
	if n := p.number(`document.querySelectorAll("*").length`); n > 2500 {
		t.Errorf("%v elements are there at once", n)
	}
}

// searching returns a script that measures a search among the objects, in milliseconds.
func searching(query string) string {
	return fmt.Sprintf(`(() => {
		document.querySelector("#tab-objects").click();
		const box = document.querySelector("#search"), begin = performance.now();
		box.value = %q;
		box.dispatchEvent(new Event("input"));
		return performance.now() - begin;
	})()`, query)
}
