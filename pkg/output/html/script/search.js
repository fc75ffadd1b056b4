// The list of all objects that were read.
const objectsView = {
	title: "Objects", asks: "Search by name, kind, namespace or UID", total: seen, empty: "No objects were read.",
	filters: () => [
		choice("ns", "namespace", tally(seen, namespaceOf)),
		choice("kind", "kind", tally(seen, (n) => kindOf(n).kind)),
	],
	chosen() {
		const holds = matching(route.q), out = [];
		const hays = route.q === "" ? null : haystacks();
		for (let n = 0; n < seen; n++) {
			if (admits("ns", namespaceOf(n)) && admits("kind", kindOf(n).kind) && (hays === null || holds(hays[n]))) {
				out.push(n);
			}
		}
		return out;
	},
	height: 50,
	objectOf: (n) => n,
	row(n) {
		const worst = findingsOn(n)[0], fate = fateOf(n);
		return element("div", {class: "row object" + (worst === undefined ? "" : " " + gradeOf(worst)) + (uidOf(n) === route.object ? " open" : "")},
			element("div", {class: "line"}, element("span", {class: "dot"}), element("span", {class: "title"}, nameNodes(...titleOf(n))),
				fate && fate.tone !== "stays" && pill(fate.action || "delete", fate.tone)),
			element("div", {class: "line small"}, element("span", {class: "where"}, namespaceOf(n) || "cluster-scoped"),
				element("span", {class: "dim"}, [ageOf(n) && "age " + ageOf(n), endingOf(n)].filter(Boolean).join(" · "))));
	},
};
