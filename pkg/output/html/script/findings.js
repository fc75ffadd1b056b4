// The list of findings.
const findingsView = {
	title: "Findings", asks: "Search findings", total: findings.rule.length, empty: "Nothing to report.",
	filters: () => [
		toggles("severity", {error: "error", warning: "warning", info: "info"}, (grade) => findings.severity.filter((s) => grades[s] === grade).length),
		choice("cause", "cause", tally(findings.rule.length, causeOf), problemOf),
		choice("rule", "rule", tally(findings.rule.length, (f) => ruleOf(f).id)),
		choice("ns", "namespace", tally(findings.rule.length, (f) => namespaceOf(objectOf(f)))),
		choice("kind", "kind", tally(findings.rule.length, (f) => titleOf(objectOf(f))[0])),
	],
	chosen() {
		const holds = matching(route.q), out = [];
		for (let f = 0; f < findings.rule.length; f++) {
			const n = objectOf(f);
			if ((route.severity === "" || route.severity === gradeOf(f)) && admits("rule", ruleOf(f).id) && admits("cause", causeOf(f)) &&
				admits("ns", namespaceOf(n)) && admits("kind", titleOf(n)[0]) && holds(findingHays()[f])) {
				out.push(f);
			}
		}
		return out;
	},
	height: (f, width) => 17 + linesOfFinding(f).reduce((sum, line) => sum + heightOf(line, width - 54), 0),
	objectOf: (f) => objectOf(f),
	row(f) {
		const n = objectOf(f);
		return element("div", {class: "row finding " + gradeOf(f) + (uidOf(n) === route.object ? " open" : "")},
			element("span", {class: "dot", title: gradeOf(f)}), element("span", {class: "hidden"}, gradeOf(f) + ": "),
			element("div", {class: "line"}, element("span", {class: "title"}, nameNodes(...titleOf(n))), element("span", {class: "where"}, placeNamed(n))),
			element("div", {class: "fact"}, briefOf(f)),
			element("div", {class: "line"}, element("span", {class: "effect " + dangerOf(f)}, "GC result: " + effectOf(f)), element("span", {class: "rule"}, ruleOf(f).id)));
	},
};
