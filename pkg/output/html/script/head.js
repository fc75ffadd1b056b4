// The head says where and when the scan was made, and whether it was complete; below it
// stands what could not be read.
function showHead() {
	const a = data.about;
	const where = a.context || a.address || a.file || "standard input";
	document.title = where + " · kubectl gc report";
	const fact = (label, said) => said && element("span", {class: "fact"}, element("span", {class: "dim"}, label + " "), said);
	refill(byID("head"),
		element("div", {class: "brand"}, mark(), element("span", {}, element("b", {}, "kubectl gc"), " report")),
		element("div", {class: "source"},
			element("span", {class: "cluster"}, where),
			element("span", {class: "when"},
				fact("scanned", element("time", {datetime: a.taken}, a.taken.replace("T", " ").replace("Z", " UTC"))),
				fact("server", [a.address !== where && a.address, a.server].filter(Boolean).join(" ")),
				fact("file", a.file !== where && a.file),
				fact("namespace", a.namespace), fact("labels", a.selector), fact("kubectl-gc", a.tool))),
		element("div", {class: "actions"},
			a.complete ? element("span", {class: "scan complete"}, "Complete scan") : element("a", {class: "scan partial", href: "#gaps", onclick: (e) => { e.preventDefault(); byID("gaps").scrollIntoView(); }}, "Incomplete scan"),
			element("button", {type: "button", id: "theme", onclick: turnTheme}),
			element("button", {type: "button", "aria-label": "Keyboard help", title: "Keyboard help (?)", "aria-keyshortcuts": "?", onclick: showHelp}, "?")));
	showGaps();
}

// mark is the sign of the report: an owner, and a dependent that hangs on it.
function mark() {
	return svg("svg", {class: "mark", viewBox: "0 0 24 24", width: 24, height: 24, "aria-hidden": "true"},
		svg("path", {d: "M7 7V14Q7 17 10 17H14"}), svg("circle", {cx: 7, cy: 6, r: 3.2}), svg("circle", {cx: 17, cy: 17, r: 3.2, class: "second"}));
}

function showGaps() {
	const {gaps, about} = data, box = byID("gaps");
	box.hidden = !gaps.warning && about.warnings.length === 0;
	refill(box,
		gaps.warning && element("p", {class: "loud"}, element("strong", {}, "Incomplete scan. "), gaps.warning.replace(/^warning: /, "").replace(/^./, (c) => c.toUpperCase()),
			" Nothing unknown is treated as absent."),
		gaps.causes.map((cause) => element("p", {class: "cause"}, cause)),
		gaps.all.length > 0 && element("details", {}, element("summary", {}, "All " + counted(gaps.all.length, "gap")),
			element("table", {}, element("thead", {}, element("tr", {}, ["What", "Reason", "The server said"].map((h) => element("th", {scope: "col"}, h)))),
				element("tbody", {}, gaps.all.map((g) => element("tr", {}, [g.what, g.reason, g.message].map((c) => element("td", {}, c))))))),
		about.warnings.map((w) => element("p", {class: "loud"}, w)));
}
