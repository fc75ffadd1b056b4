// The list of what a pass of the collector would do, line by line as the preview of
// kubectl gc collect has it.
const steps = data.steps;

const deepest = 8; // levels that are set off

const planView = {
	title: "Plan", asks: "Search the plan", total: steps ? steps.depth.length : 0, empty: "Nothing to do.",
	filters: () => [
		choice("ns", "namespace", tally(steps.depth.length, (s) => namespaceOf(steps.object[s]))),
		choice("kind", "kind", tally(steps.depth.length, (s) => isSeen(steps.object[s]) ? kindOf(steps.object[s]).kind : "")),
		element("p", {class: "note"}, steps.sum + " Nothing was changed. Digest ", element("code", {}, steps.digest), "."),
	],
	chosen() {
		const holds = matching(route.q), out = [];
		for (let s = 0; s < steps.depth.length; s++) {
			const n = steps.object[s];
			if (admits("ns", namespaceOf(n)) && admits("kind", isSeen(n) ? kindOf(n).kind : "") && holds(stepHays()[s])) {
				out.push(s);
			}
		}
		return out;
	},
	height: (s, width) => 17 + linesOfStep(s).reduce((sum, line) => sum + heightOf(line, width - 37 - Math.min(steps.depth[s], deepest) * 22), 0),
	objectOf: (s) => steps.object[s],
	row(s) {
		const n = steps.object[s], deep = Math.min(steps.depth[s], deepest);
		return element("div", {class: "row step deep-" + deep + (n >= 0 && uidOf(n) === route.object ? " open" : "")},
			element("div", {class: "line"}, pill(text(steps.action[s]), text(steps.tone[s])),
				element("span", {class: "title"}, n >= 0 ? nameNodes(...titleOf(n)) : steps.name[s]),
				element("span", {class: "where"}, n >= 0 ? placeNamed(n) : "")),
			element("div", {class: "fact"}, text(steps.why[s])));
	},
};

// linesOfStep are the words of its row.
function linesOfStep(s) {
	const n = steps.object[s];
	return [
		[["pill", text(steps.action[s])], ["title", n >= 0 ? titled(n) : steps.name[s]], ["small", n >= 0 ? placeNamed(n) : ""]],
		[["fact", text(steps.why[s])]],
	];
}

const stepHays = later(() => steps.depth.map((_, s) => (wordsOf(linesOfStep(s)) + " " + (uidOf(steps.object[s]) ?? "")).toLowerCase()));
