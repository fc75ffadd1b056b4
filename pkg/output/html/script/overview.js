// The overview is what the panel shows while no object is open.
function showOverview() {
	const {summary} = data.about;
	kin?.leave();
	kin = null;
	refill(byID("panel"), element("article", {class: "overview", "aria-labelledby": "overview-title"},
		element("h1", {id: "overview-title", tabindex: "-1"}, headline(summary)),
		element("p", {class: "dim"}, counted(summary.objects, "object") + " with " + counted(summary.references, "owner reference") +
			" checked. Open a row to see who owns an object, what depends on it, and what the garbage collector does with it."),
		element("div", {class: "figures"},
			figure(summary.errors, "error", "will be deleted, or never can be", () => go({view: "findings", severity: "error", object: ""})),
			figure(summary.warnings, "warning", "will lose a reference, wait, or are unknown", () => go({view: "findings", severity: "warning", object: ""})),
			figure(summary.infos, "info", "harmless", () => go({view: "findings", severity: "info", object: ""})),
			figure(seen, "object", "read", () => go({view: "objects", object: ""}))),
		next(), causes(),
		bars("By namespace", (f) => namespaceOf(objectOf(f)), (ns) => go({view: "findings", ns: ":" + ns}))));
}

// causes are the groups of findings, in the order of audit.
function causes() {
	const groups = findings.problems.map(() => []);
	findings.group.forEach((group, f) => groups[group].push(f));
	return groups.length > 0 && element("section", {class: "causes"}, element("h2", {}, "By cause"), groups.slice(0, mostBars).map((of, group) => {
		const names = [...new Set(of.map(objectOf))], shown = names.slice(0, 3).map(titled).join(", ") + (names.length > 3 ? " and " + thousands(names.length - 3) + " more" : "");
		return element("button", {type: "button", class: "cause " + gradeOf(of[0]), onclick: () => go({...initial, cause: ":" + group})},
			element("span", {class: "dot"}), element("span", {class: "number"}, thousands(names.length)),
			element("span", {class: "label"}, problemOf(group), element("span", {class: "effect " + dangerOf(of[0])}, "GC result: " + effectOf(of[0])), element("span", {class: "dim"}, shown + " · " + ruleOf(of[0]).id)));
	}), groups.length > mostBars && element("p", {class: "dim"}, "and " + thousands(groups.length - mostBars) + " more: choose a cause beside the list"));
}

function headline({errors, warnings, infos}) {
	if (errors + warnings + infos === 0) {
		return data.about.complete ? "Nothing to report" : "Nothing to report in what could be read";
	}
	return [errors && counted(errors, "error"), warnings && counted(warnings, "warning"), infos && counted(infos, "info")].filter(Boolean).join(", ");
}

function figure(n, noun, what, open) {
	return element("button", {type: "button", class: "figure " + noun, onclick: open},
		element("span", {class: "amount"}, thousands(n)), element("span", {class: "noun"}, noun + (n === 1 ? "" : "s")), element("span", {class: "dim"}, what));
}

// worstBy is the gravest severity of each value.
function worstBy(of) {
	const out = new Map();
	for (let f = 0; f < findings.rule.length; f++) {
		const value = of(f);
		if (!out.has(value) || findings.severity[f] < out.get(value)) {
			out.set(value, findings.severity[f]);
		}
	}
	return out;
}

const mostBars = 12;

// bars count findings by a value, the gravest first.
function bars(title, of, open) {
	const counts = tally(findings.rule.length, of), worst = worstBy(of);
	if (counts.size === 0) {
		return null;
	}
	const sorted = [...counts].sort(([a, n], [b, m]) => worst.get(a) - worst.get(b) || m - n || (a < b ? -1 : 1)), most = Math.max(...counts.values());
	return element("section", {class: "bars"}, element("h2", {}, title), sorted.slice(0, mostBars).map(([value, n]) =>
		element("button", {type: "button", class: "bar", onclick: () => open(value)},
			element("span", {class: "label"}, value || "cluster-scoped"),
			svg("svg", {class: "measure " + grades[worst.get(value)], viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true"},
				svg("rect", {class: "ground", width: 100, height: 8, rx: 1}), svg("rect", {width: Math.max(2, 100 * n / most), height: 8, rx: 1})),
			element("span", {class: "number"}, thousands(n)))),
		sorted.length > mostBars && element("p", {class: "dim"}, "and " + thousands(sorted.length - mostBars) + " more"));
}

function next() {
	const hints = data.about.hints.split(/ {4}/).filter(Boolean);
	return hints.length > 0 && element("section", {class: "further"}, element("h2", {}, "What to do next"), hints.map((hint) => {
		const [what, line] = hint.split(/: (.*)/);
		return suggestion(line ?? "", what);
	}));
}
