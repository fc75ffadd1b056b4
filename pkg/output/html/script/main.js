// What is shown follows from the route alone.
const views = {findings: findingsView, objects: objectsView};
if (steps) {
	views.plan = planView;
}

let chosen = []; // what of the view passes its filters
let list = null;

function showTabs() {
	refill(byID("tabs"), Object.entries(views).map(([name, view]) =>
		element("button", {
			type: "button", role: "tab", id: "tab-" + name, "aria-selected": name === route.view, "aria-controls": "list",
			tabindex: name === route.view ? "0" : "-1", onclick: () => go({view: name}),
		}, view.title, element("span", {class: "number"}, thousands(view.total)))));
}

function showList(moved) {
	const view = views[route.view], before = list?.at ?? -1;
	chosen = view.chosen();
	if (moved) {
		list?.leave();
		byID("list").setAttribute("role", "listbox");
		byID("list").setAttribute("aria-label", view.title);
		list = new List(byID("list"), {
			id: "row", role: "option",
			row: (i) => view.row(chosen[i]),
			height: (i, width) => view.height(chosen[i], width || 400),
			open: (i) => { if (view.objectOf(chosen[i]) >= 0) { openObject(view.objectOf(chosen[i])); } },
		});
	}
	const of = view.total === chosen.length ? "" : " of " + thousands(view.total);
	refill(byID("count"), view.total === 0 ? view.empty : counted(chosen.length, "row") + of,
		view.total > chosen.length && element("button", {type: "button", class: "link", onclick: clear}, route.q === "" ? "clear filters" : "clear search"));
	list.show(chosen.length, moved ? -1 : before);
}

const narrowing = ["q", "severity", "state", "cause", "rule", "ns", "kind"];

// clear shows everything again.
function clear() {
	go(Object.fromEntries(narrowing.map((key) => [key, ""])), true);
	search.focus();
}

function arrived(now, before) {
	if (!Object.hasOwn(views, now.view)) {
		now.view = "findings";
	}
	const moved = list === null || now.view !== before.view;
	const narrowed = narrowing.some((key) => now[key] !== before[key]);
	if (moved) {
		showTabs();
		furnishFilters(views[now.view]);
	}
	syncFilters();
	if (moved || narrowed) {
		if (!moved || list) {
			byID("list").scrollTop = 0;
		}
		showList(moved);
	}
	if (list.count > 0 && now.object !== before.object) {
		list.show(list.count, list.at); // marks the open one
	}
	if (now.object !== before.object || !byID("panel").hasChildNodes()) {
		const n = now.object === "" ? -1 : placeOf(now.object);
		byID("body").classList.toggle("showing", n >= 0);
		if (n >= 0) {
			showObject(n);
		} else {
			showOverview();
		}
		byID("panel").scrollTop = 0;
		keepFocus();
	}
}

// keepFocus moves the focus to what is shown, where the screen has no room for list and panel beside each other.
function keepFocus() {
	if (!byID("list").checkVisibility()) {
		byID("panel").querySelector("h1").focus();
	} else if (!byID("panel").checkVisibility()) {
		byID("list").focus();
	}
}

showHead();
startTheme();
travellers.push(arrived);
addEventListener("keydown", pressed);
byID("skip").addEventListener("click", (e) => { e.preventDefault(); byID("list").focus(); });
byID("tabs").addEventListener("keydown", (e) => {
	const names = Object.keys(views), at = names.indexOf(route.view), to = {ArrowLeft: at - 1, ArrowRight: at + 1}[e.key];
	if (to !== undefined) {
		go({view: names[(to + names.length) % names.length]});
		e.stopPropagation();
		byID("tabs").querySelector("[aria-selected=true]")?.focus();
	}
});
travel(readRoute());
performance.mark("shown");
