// The list of findings.
const findingsView = {
	title: "Findings", asks: "Search findings", total: findings.rule.length, empty: "Nothing to report.",
	filters: () => [
		toggles(tally(findings.rule.length, gradeOf)),
		choice("rule", "rule", tally(findings.rule.length, (f) => ruleOf(f).id)),
		choice("ns", "namespace", tally(findings.rule.length, (f) => namespaceOf(objectOf(f)))),
		choice("kind", "kind", tally(findings.rule.length, (f) => titleOf(objectOf(f))[0])),
	],
	chosen() {
		const holds = matching(route.q), out = [];
		for (let f = 0; f < findings.rule.length; f++) {
			const n = objectOf(f);
			if ((route.severity === "" || route.severity === gradeOf(f)) && admits("rule", ruleOf(f).id) &&
				admits("ns", namespaceOf(n)) && admits("kind", titleOf(n)[0]) && holds(findingHays()[f])) {
				out.push(f);
			}
		}
		return out;
	},
	height: 74,
	objectOf: (f) => objectOf(f),
	row(f) {
		const n = objectOf(f);
		return element("div", {class: "row finding " + gradeOf(f) + (uidOf(n) === route.object ? " open" : "")},
			element("div", {class: "line"}, element("span", {class: "dot", title: gradeOf(f)}), element("span", {class: "hidden"}, gradeOf(f) + ": "),
				element("span", {class: "title"}, nameNodes(...titleOf(n))), element("span", {class: "where"}, namespaceOf(n) || "cluster-scoped")),
			element("div", {class: "line fact", title: briefOf(f)}, briefOf(f)),
			element("div", {class: "line"}, element("span", {class: "effect " + dangerOf(f)}, "GC result: " + effectOf(f)), element("span", {class: "rule"}, ruleOf(f).id)));
	},
};
