// On paper nothing scrolls: what the list holds is written out, as far as anybody reads,
// and the picture of the open object with all its lines.
const mostPrinted = 1000;

function fillPaper() {
	const paper = byID("paper"), shown = chosen.slice(0, mostPrinted);
	paper.hidden = false;
	refill(paper,
		element("h2", {}, views[route.view].title + ": " + thousands(chosen.length)),
		shown.map((i) => views[route.view].row(i)),
		chosen.length > shown.length && element("p", {}, "and " + thousands(chosen.length - shown.length) + " more, not printed"));
	if (kin) {
		const lines = kin.family.lines.slice(0, mostPrinted);
		paper.prepend(element("h2", {}, "Owners and dependents of " + titled(kin.family.root)), element("div", {class: "tree"}, lines.map((_, i) => kin.rows.row(i))));
	}
}

function clearPaper() {
	byID("paper").hidden = true;
	byID("paper").replaceChildren();
}

addEventListener("beforeprint", fillPaper);
addEventListener("afterprint", clearPaper);
