// Keys that mean something wherever the focus is, but in a box that takes text.
const global = {
	"/": () => { search.focus(); search.select(); },
	"?": showHelp,
	t: turnTheme,
	1: () => go({view: "findings"}),
	2: () => go({view: "objects"}),
	3: () => { if (steps) { go({view: "plan"}); } },
	o: () => (document.activeElement === kin?.box || !kin ? byID("list") : kin.box).focus(),
};

// inList is the list that moves: the one with the focus, else that of the view.
const inList = () => kin && document.activeElement === kin.box ? kin : list;

function pressed(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || byID("help").open) {
		return;
	}
	const at = e.target;
	if (e.key === "Escape") {
		leave(at);
	} else if (at === search && (e.key === "ArrowDown" || e.key === "Enter")) {
		byID("list").focus();
		list.mean(Math.max(list.at, 0));
	} else if (at.closest("input, select, textarea") || e.key === "Enter" && at.closest("button, a, summary")) {
		return;
	} else if (Object.hasOwn(global, e.key)) {
		global[e.key]();
	} else if (inList() === kin && (e.key === "ArrowLeft" || e.key === "ArrowRight")) {
		turnKin(e.key === "ArrowRight");
	} else if (!at.closest("button, a, summary, [role=tab]") || e.key === "j" || e.key === "k") {
		if (!inList().key(e.key)) {
			return;
		}
	} else {
		return;
	}
	e.preventDefault();
}

// leave is what Escape means: one step out.
function leave(at) {
	if (at === search) {
		if (search.value === "") {
			byID("list").focus();
		} else {
			go({q: ""}, true);
		}
	} else if (route.object !== "") {
		go({object: ""});
		byID("list").focus();
	}
}

// turnKin opens or closes a line of the picture.
function turnKin(open) {
	const line = kin.family.lines[kin.at];
	if (line && line.type === "more" && open) {
		kin.rows.open(kin.at);
	} else if (line && kin.family.turn(line, open)) {
		kin.show(kin.family.lines.length, kin.family.lines.findIndex((l) => l.side === line.side && l.node === line.node && !l.again));
	}
}
