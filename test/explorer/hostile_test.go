package explorer

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

// hostile are names that would become markup or script, or hide text, if they were not escaped.
var hostile = []string{
	"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--<script>", `" onmouseover="alert(1)`, "\u202egpj.exe", "a\u2028b\x00c", "${alert(1)}", "'; DROP",
}

// TestHostileNamesStayText expects that hostile names are shown as text everywhere: no dialog, no
// request, no element.
func TestHostileNamesStayText(t *testing.T) {
	l := newSnapshot(t)
	for i, name := range hostile {
		gone := reference{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: "gone-" + name}
		l.add("v1", "ConfigMap", "shop", name, gone)
		l.add("v1", "Secret", name, "plain"+string(rune('a'+i)), reference{"v1", "ConfigMap", name, "ConfigMap-" + name, false})
	}
	l.gap("batch", "jobs", hostile[1])
	p := open(t, pageOf(t, l.save(t), "--plan"), "", browser.Look{Width: 1360, Height: 2600})
	calm := openDemo(t, "--plan")
	elements := func(p page) string {
		return p.text(`[...document.querySelectorAll("script, img, iframe, object, embed, link, meta, base, form")].map((n) => n.tagName).sort()`)
	}
	if got, want := elements(p), elements(calm); got != want {
		t.Errorf("the elements are %s, want %s", got, want)
	}
	shown := p.titles()
	for _, want := range []string{hostile[0], hostile[1], hostile[3], `\u202egpj.exe`, `a\u2028b\x00c`} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not show %s", want)
		}
	}
	if strings.ContainsAny(shown, "\u202e\u2028\x00") {
		t.Error("hidden characters are shown unescaped")
	}
	for _, tab := range []string{"#tab-objects", "#tab-plan", "#tab-findings"} {
		p.click(tab)
		p.row("#list", "ConfigMap/"+hostile[1])
		p.title("ConfigMap/" + hostile[1])
	}
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	if got, want := elements(p), elements(calm); got != want {
		t.Errorf("with all that is printed the elements are %s, want %s", got, want)
	}
	if got := p.text(`document.querySelectorAll("*").length && [...document.querySelectorAll("*")].filter((n) => [...n.attributes].some((a) => a.name.startsWith("on"))).length`); got != "0" {
		t.Errorf("%s elements have handlers in their markup", got)
	}
}

// TestContentSecurityPolicy expects that foreign content does not run, load or send anything.
func TestContentSecurityPolicy(t *testing.T) {
	file := pageOf(t, demo)
	tab, err := browser.Open(running, file, "", browser.Look{})
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	p := page{t, tab}
	p.until(`document.querySelector("#panel article")`)
	p.do(chromedp.Evaluate(`(() => {
		window.refused = [];
		addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
		const script = document.createElement("script");
		script.textContent = "window.owned = true";
		document.body.append(script);
		const image = new Image();
		image.src = "https://example.com/x.png";
		document.body.append(image);
		const style = document.createElement("style");
		style.textContent = "body { display: none }";
		document.head.append(style);
		fetch("https://example.com/").catch(() => {});
	})()`, nil))
	p.until(`["script-src-elem", "img-src", "style-src-elem", "connect-src"].every((d) => refused.includes(d))`)
	if got := p.text(`typeof owned`); got != "undefined" {
		t.Error("a script ran that is not the page's")
	}
	for _, trouble := range tab.Troubles() {
		if strings.HasPrefix(trouble, "requests ") && !strings.Contains(trouble, "example.com") {
			t.Errorf("the page %s", trouble)
		}
	}
}

func TestGapsAreShownAtTheTop(t *testing.T) {
	l := newSnapshot(t)
	l.add("v1", "ConfigMap", "shop", "a", reference{APIVersion: "batch/v1", Kind: "Job", Name: "import", UID: "u"})
	l.gap("batch", "jobs", "not you")
	p := open(t, pageOf(t, l.save(t)), "", browser.Look{})
	said := p.text(`document.querySelector("#gaps").textContent`)
	for _, want := range []string{"Incomplete scan.", "jobs.batch (forbidden)", "Nothing unknown is treated as absent", "All 1 gap", "not you"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if strings.Contains(said, "false") || strings.Contains(said, "[object") {
		t.Errorf("it says %s", said)
	}
	p.row("#list", "ConfigMap/a")
	p.title("ConfigMap/a")
	if got := p.text(`document.querySelector(".callout")`); got != "null" {
		t.Errorf("the result is unknown, but the page says %s", p.text(`document.querySelector(".callout").textContent`))
	}
	if got := p.text(`document.querySelector("#tree .up .said").textContent`); !strings.Contains(got, "not allowed to list jobs.batch") {
		t.Errorf("of the owner it says %s", got)
	}
}
