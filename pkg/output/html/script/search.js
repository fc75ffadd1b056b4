// The list of all objects that were read.
const objectsView = {
	title: "Objects", asks: "Search objects", total: seen, empty: "No objects were read.",
	filters: () => [
		toggles("state", {"will be deleted": "goes", terminating: "waits", "has finalizers": "plain"}, (state) => objects.name.reduce((sum, _, n) => sum + states[state](n), 0)),
		choice("ns", "namespace", tally(seen, namespaceOf)),
		choice("kind", "kind", tally(seen, (n) => kindOf(n).kind)),
	],
	chosen() {
		const holds = matching(route.q), out = [];
		const hays = route.q === "" ? null : haystacks(), has = states[route.state] ?? (() => true);
		for (let n = 0; n < seen; n++) {
			if (admits("ns", namespaceOf(n)) && admits("kind", kindOf(n).kind) && has(n) && (hays === null || holds(hays[n]))) {
				out.push(n);
			}
		}
		return out;
	},
	height: (n, width) => 9 + linesOfObject(n).reduce((sum, line) => sum + heightOf(line, width - 54), 0),
	objectOf: (n) => n,
	row(n) {
		const worst = findingsOn(n)[0], [[, [, action]], [[, where], [, facts]]] = linesOfObject(n);
		return element("div", {class: "row object" + (worst === undefined ? "" : " " + gradeOf(worst)) + (uidOf(n) === route.object ? " open" : "")},
			element("span", {class: "dot"}),
			element("div", {class: "line"}, element("span", {class: "title"}, nameNodes(...titleOf(n))), action && pill(action, fateOf(n).tone)),
			element("div", {class: "line small"}, element("span", {class: "where"}, where), element("span", {class: "dim"}, facts)));
	},
};
