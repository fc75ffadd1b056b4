// The picture of a family: a line each, with branches that lead to it.

const step = 26, tall = 42; // pixels a level, and a line

const shades = {good: "", bad: "bad", waits: "waits"};

// branches draws what leads to a line. Above the root it stands on its head.
function branches(line) {
	const x = (depth) => (depth - 1) * step + 15, mid = tall / 2, wide = line.depth * step + 4;
	const up = line.side === "up", near = up ? tall : 0, far = up ? 0 : tall, bend = up ? mid + 8 : mid - 8;
	const paths = line.guides.map((depth) => svg("path", {d: `M${x(depth)} 0V${tall}`}));
	const here = x(line.depth);
	paths.push(svg("path", {d: line.last ? `M${here} ${near}V${bend}` : `M${here} ${near}V${far}`}));
	const tone = line.type === "object" ? shades[toneOf(line.ref)] : "fold";
	paths.push(svg("path", {class: tone, d: `M${here} ${bend}Q${here} ${mid} ${here + 8} ${mid}H${wide}`}));
	return svg("svg", {class: "branches", width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}`, "aria-hidden": "true"}, paths);
}

// treeRows says how the lines of a family look, and what opening one does.
function treeRows(family, redraw) {
	const unfold = (line) => { family.unfold(line.side, line.node); redraw(); };
	return {
		id: "kin", height: tall, role: "treeitem",
		row(i) {
			const line = family.lines[i];
			const row = element("div", {class: "kin " + line.type + " " + line.side + stem(line, family), "aria-level": line.depth + 1}, line.depth > 0 && branches(line));
			if (line.type === "more") {
				row.append(element("span", {class: "fold"}, "and " + thousands(line.hidden) + " more"));
			} else {
				row.append(card(line), ...remarks(line, family.root));
			}
			if (line.below > 0 && !line.far) {
				row.setAttribute("aria-expanded", line.open === true);
			}
			row.setAttribute("aria-label", row.textContent);
			const turner = row.querySelector(".turn");
			turner?.addEventListener("click", (e) => {
				e.preventDefault();
				family.turn(line, !line.open);
				redraw();
			});
			return row;
		},
		open(i) {
			const line = family.lines[i];
			if (line.type === "more") {
				unfold(line);
			} else if (line.node !== family.root) {
				openObject(line.node);
			}
		},
	};
}

// stem says on which sides of a line branches begin.
function stem(line, family) {
	if (line.type === "root") {
		return (family.home > 0 ? " stem-up" : "") + (family.lines.length > family.home + 1 ? " stem-down" : "");
	}
	return line.open ? " stem-" + line.side : "";
}

// card is the object of a line: as the reference claims it, where that is not plainly what
// it leads to.
function card(line) {
	const claim = line.side === "up" ? claimOf(line.ref) : null;
	const [kind, name] = claim ? [claim.kind, claim.name] : titleOf(line.node);
	const worst = line.type === "root" || line.side === "down" || !claim ? findingsOn(line.node)[0] : undefined;
	const tone = line.type === "object" ? toneOf(line.ref) : "";
	return element("span", {class: "card " + (tone === "good" ? "" : tone) + (isSeen(line.node) ? "" : " absent") + (worst === undefined ? "" : " " + gradeOf(worst))},
		element("span", {class: "dot"}), nameNodes(kind, name),
		line.below > 0 && !line.far && element("span", {class: "turn", title: line.open ? "close" : "open", "aria-hidden": "true"}, line.open ? "−" : "+" + thousands(line.below)));
}

// remarks are what is to be said of a line, in the words of the audit and of the plan.
function remarks(line, root) {
	const out = [], n = line.node;
	const said = line.type === "object" ? saidOf(line.ref) : null;
	if (said) {
		const about = line.side === "up" ? " for " + titled(dependentOf(line.ref)) : ""; // below, the line is about that very object
		out.push(element("span", {class: "said " + toneOf(line.ref)}, element("span", {}, said.fact),
			said.effect && element("span", {class: "effect"}, "GC result" + about + ": " + said.effect)));
	}
	if (line.again) {
		out.push(element("span", {class: "note"}, n === root ? "↻ cycle: the object itself" : "shown in full on another line"));
	}
	const fate = fateOf(n);
	if (fate && fate.tone !== "stays" && !line.again) {
		out.push(pill(fate.action || "delete", fate.tone));
	}
	if (endingOf(n)) {
		out.push(element("span", {class: "note waits"}, endingOf(n)));
	}
	if (isSeen(n) && line.type === "object" && namespaceOf(n) !== namespaceOf(root)) {
		out.push(element("span", {class: "note"}, namespaceOf(n) ? "in " + namespaceOf(n) : "cluster-scoped"));
	}
	if (line.far) {
		out.push(element("span", {class: "note"}, "and " + counted(line.below, "more") + " below"));
	}
	const flags = line.type === "object" ? [controls(line.ref) && "controller", blocks(line.ref) && "blocking"].filter(Boolean).join(", ") : "";
	if (flags) {
		out.push(element("span", {class: "note flags"}, flags));
	}
	return out;
}
