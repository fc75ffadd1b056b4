// The picture of a family: a line each, with branches that lead to it.

const step = 26, tall = 42, middle = 21; // pixels a level, the least of a line, and down to where its card is reached

const shades = {good: "", bad: "bad", waits: "waits"};

// branches draws what leads to a line and on from it. Above the root it stands on its head.
function branches(line, family, high) {
	const x = (depth) => (depth - 1) * step + 15, wide = line.depth === 0 ? 1 : line.depth * step + 4, here = x(line.depth);
	const up = line.side === "up", near = up ? high : 0, far = up ? 0 : high, bend = up ? middle + 8 : middle - 8;
	const paths = line.guides.map((depth) => svg("path", {d: `M${x(depth)} 0V${high}`}));
	if (line.depth > 0) {
		const tone = line.type === "object" ? shades[toneOf(line.ref)] : "fold";
		paths.push(svg("path", {d: `M${here} ${near}V${line.last ? bend : far}`}),
			svg("path", {class: tone, d: `M${here} ${bend}Q${here} ${middle} ${here + 8} ${middle}H${wide}`}));
	}
	const root = line.type === "root", above = root ? family.home > 0 : up && line.open, below = root ? family.lines.length > family.home + 1 : !up && line.open;
	paths.push(above && svg("path", {d: `M${x(line.depth + 1)} ${middle}V0`}), below && svg("path", {d: `M${x(line.depth + 1)} ${middle}V${high}`}));
	return svg("svg", {class: "branches", width: wide, height: high, "aria-hidden": "true"}, paths);
}

const narrowest = 240; // pixels for card and remarks, however deep

// treeRows says how the lines of a family look, and what opening one does.
function treeRows(family, redraw) {
	const unfold = (line) => { family.unfold(line.side, line.node); redraw(); };
	const told = (line) => line.type === "more" ? [["card", element("span", {class: "fold"}, "and " + thousands(line.hidden) + " more")]] : [[line.below > 0 ? "turnable" : "card", card(line)], ...remarks(line, family.root)];
	let wide = 600; // of the box, when it was last measured
	const height = (line, cells) => Math.max(tall, 8 + heightOf(cells.map(([style, node]) => [style, style === "said" ? [...node.children].map((c) => c.textContent) : node.textContent]),
		Math.max(narrowest, wide - 44 - line.depth * step), 10));
	return {
		id: "kin", role: "treeitem",
		height(i, width) {
			wide = width || wide;
			return height(family.lines[i], told(family.lines[i]));
		},
		row(i) {
			const line = family.lines[i], cells = told(line);
			const row = element("div", {class: "kin " + line.type + " " + line.side, "aria-level": line.depth + 1}, branches(line, family, height(line, cells)),
				element("div", {class: "told"}, cells.map(([, node]) => node)));
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

// remarks are cells with what is to be said of a line, in the words of the audit and of the plan.
function remarks(line, root) {
	const out = [], n = line.node, note = (said, tone = "") => out.push(["small", element("span", {class: "note" + tone}, said)]);
	const said = line.type === "object" ? saidOf(line.ref) : null;
	if (said) {
		const about = line.side === "up" ? " for " + titled(dependentOf(line.ref)) : ""; // below, the line is about that very object
		out.push(["said", element("span", {class: "said " + toneOf(line.ref)}, element("span", {}, said.fact),
			said.effect && element("span", {class: "effect"}, "GC result" + about + ": " + said.effect))]);
	}
	if (line.again) {
		note(n === root ? "↻ cycle: the object itself" : "shown in full on another line");
	}
	if (actionOf(n) && !line.again) {
		out.push(["pill", pill(actionOf(n), fateOf(n).tone)]);
	}
	if (endingOf(n)) {
		note(endingOf(n), " waits");
	}
	if (isSeen(n) && line.type === "object" && namespaceOf(n) !== namespaceOf(root)) {
		note(namespaceOf(n) ? "in " + namespaceOf(n) : "cluster-scoped");
	}
	if (line.far) {
		note("and " + thousands(line.below) + " more below");
	}
	const flags = line.type === "object" ? [controls(line.ref) && "controller", blocks(line.ref) && "blocking"].filter(Boolean).join(", ") : "";
	if (flags) {
		note(flags, " flags");
	}
	return out;
}
