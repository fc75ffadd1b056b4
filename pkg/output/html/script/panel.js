// The panel shows one object: what becomes of it, what is wrong with it, its family, and
// how to ask further.
let kin = null; // the list of the family's lines

function showObject(n) {
	const [kind, name] = titleOf(n);
	refill(byID("panel"), element("article", {class: "object", "aria-labelledby": "object-title"},
		element("header", {},
			element("p", {class: "trail"}, [isSeen(n) ? kindOf(n).apiVersion : "not read", isSeen(n) && (namespaceOf(n) ? "namespace " + namespaceOf(n) : "cluster-scoped"), isSeen(n) && ageOf(n) && "age " + ageOf(n)].filter(Boolean).join("  ·  ")),
			element("h1", {id: "object-title", tabindex: "-1"}, nameNodes(kind, name)),
			element("button", {type: "button", class: "close", "aria-label": "Close the object", title: "Close (Esc)", onclick: () => go({object: ""})}, "×")),
		lot(n), findingsOn(n).map(verdictCard), picture(n), facts(n), further(n)));
	placePicture();
}

// lot says what becomes of the object.
function lot(n) {
	if (!isSeen(n)) {
		return callout("bad", "No object that could be read has this UID.", data.about.complete ? "" : "Not everything could be read: see above.");
	}
	const fate = fateOf(n), ending = endingOf(n);
	const out = [];
	if (ending) {
		out.push(callout("waits", "It is being deleted.", ending));
	}
	if (fate) {
		out.push(callout(fate.tone, fate.tone === "stays" ? "Will be kept." : fate.action === "" ? "Will be deleted." : ["The garbage collector will: ", pill(fate.action, fate.tone)], fate.why));
	} else if (n >= objects.listed) {
		out.push(callout("plain", "Only looked up as an owner.", "It was not listed, so its fate is not predicted."));
	}
	return out;
}

const callout = (tone, head, more) => element("div", {class: "callout " + tone}, element("strong", {}, head), more && element("span", {}, more));

function verdictCard(f) {
	const others = membersOf(f);
	return element("section", {class: "verdict " + gradeOf(f)},
		element("p", {class: "line"}, pill(gradeOf(f), gradeOf(f)),
			element("a", {class: "rule", href: ruleOf(f).page, target: "_blank", rel: "noopener noreferrer", title: ruleOf(f).summary}, ruleOf(f).id)),
		element("p", {}, messageOf(f)),
		repairOf(f) && suggestion(repairOf(f), "preview the repair"),
		others.length > 0 && element("p", {class: "members"}, others.slice(0, 20).map((m) =>
			element("button", {type: "button", class: "link", onclick: () => openObject(m)}, titled(m))), others.length > 20 && "and " + thousands(others.length - 20) + " more"));
}

function picture(n) {
	const family = new Family(n), box = element("div", {id: "tree", class: "tree", tabindex: "0", role: "tree", "aria-label": "Owners and dependents"});
	const rows = treeRows(family, () => { kin.show(family.lines.length, kin.at); sizePicture(); });
	kin?.leave();
	kin = new List(box, rows);
	kin.family = family;
	return element("section", {class: "family"},
		element("h2", {}, "Owners and dependents"),
		element("p", {class: "dim"}, [counted(ownersOf(n).length, "owner reference"), counted(dependentsOf(n).length, "dependent") + " by UID"].join(", ") + ". Owners stand above, dependents below."),
		box);
}

const tallest = 14; // lines of a family without a scroll bar of its own

function sizePicture() {
	kin.box.style.height = Math.min(kin.tops[kin.count], tallest * tall) + 18 + "px";
}

// placePicture brings the object itself into sight.
function placePicture() {
	kin.show(kin.family.lines.length, kin.family.home);
	sizePicture();
	kin.box.scrollTop = Math.max(0, kin.tops[kin.family.home] - kin.box.clientHeight / 2);
	kin.draw();
}

function facts(n) {
	const rows = [["UID", element("code", {}, uidOf(n))]];
	if (isSeen(n)) {
		rows.push(["apiVersion", kindOf(n).apiVersion], ["Finalizers", finalizersOf(n).join(", ") || "none"]);
	}
	return element("section", {class: "facts"}, element("h2", {}, "Facts"),
		element("dl", {}, rows.map(([term, said]) => [element("dt", {}, term), element("dd", {}, said)])));
}

function further(n) {
	if (!isSeen(n)) {
		return null;
	}
	const [source, live] = data.about.file ? ["file", ""] : ["cluster", ", live"];
	const lines = [["explain it" + live, command("why", n)], ["show its tree" + live, command("tree", n)]].filter(([, line]) => line);
	return lines.length > 0 && element("section", {class: "further"}, element("h2", {}, "Ask the " + source), lines.map(([what, line]) => suggestion(line, what)));
}

// suggestion is a command to copy, and what it does.
const suggestion = (line, what) => element("div", {class: "command"}, element("code", {}, line.split(/(?<= )/).map((word) => element("span", {class: "word"}, word))), copier(line), element("span", {class: "dim"}, what));

// copier copies a line; where the browser does not let it, it says so.
function copier(line) {
	const button = element("button", {type: "button", class: "copy", onclick: () => {
		const said = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "copy"; }, 1500); };
		if (!navigator.clipboard) {
			said("select it");
			return;
		}
		navigator.clipboard.writeText(line).then(() => said("copied"), () => said("select it"));
	}}, "copy");
	return button;
}
