// Filters narrow what the list shows. They stand in the route, so that they outlive a
// visit to an object.
const search = element("input", {
	type: "search", id: "search", placeholder: "Search", autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/",
	"aria-controls": "list", oninput: () => go({q: search.value}, true),
});

// choice is a list to choose one of, with how many rows each has.
function choice(key, label, counts, named = (value) => value || "(cluster-scoped)") {
	const options = [...counts].sort(([a], [b]) => a < b ? -1 : 1)
		.map(([value, n]) => element("option", {value: ":" + value}, named(value) + "  " + thousands(n)));
	return element("select", {"aria-label": label, "data-key": key, onchange: (e) => go({[key]: e.target.value}, true)},
		element("option", {value: ""}, "any " + label), options);
}

// toggles choose one of some values, or take that back. tones are the values with their colours, count is how many
// rows have one.
function toggles(key, tones, count) {
	return element("div", {class: "toggles", role: "group", "aria-label": key}, Object.entries(tones).map(([value, tone]) =>
		element("button", {type: "button", class: "toggle " + tone, "data-toggle": key, "data-value": value, onclick: () => go({[key]: route[key] === value ? "" : value}, true)},
			value, element("span", {class: "number"}, thousands(count(value))))));
}

// tally counts values; of gives that of each place below n.
function tally(n, of) {
	const out = new Map();
	for (let i = 0; i < n; i++) {
		out.set(of(i), (out.get(of(i)) ?? 0) + 1);
	}
	return out;
}

// furnishFilters puts the filters of a view in place.
function furnishFilters(view) {
	search.setAttribute("aria-label", view.asks);
	search.placeholder = view.asks;
	refill(byID("filters"),
		element("div", {class: "searching"}, search, element("kbd", {"aria-hidden": "true"}, "/")),
		element("div", {class: "choices"}, view.filters()));
}

// syncFilters shows what the route says.
function syncFilters() {
	if (search.value !== route.q) {
		search.value = route.q;
	}
	for (const box of byID("filters").querySelectorAll("select")) {
		box.value = route[box.dataset.key];
		box.classList.toggle("on", box.value !== "");
	}
	for (const button of byID("filters").querySelectorAll("[data-toggle]")) {
		button.setAttribute("aria-pressed", route[button.dataset.toggle] === button.dataset.value);
	}
}

// admits says whether a value passes the filter of that name.
const admits = (key, value) => route[key] === "" || route[key] === ":" + value;
