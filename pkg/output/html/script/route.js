// The route is what is shown, in the fragment of the address: so back and forward work,
// and a link leads to the same place in a copy of the page.
const initial = {view: "findings", q: "", severity: "", state: "", cause: "", rule: "", ns: "", kind: "", object: ""};
let route = {...initial};
const travellers = [];

function readRoute() {
	const given = new URLSearchParams(location.hash.slice(1));
	const out = {...initial};
	for (const key of Object.keys(initial)) {
		out[key] = given.get(key) ?? initial[key];
	}
	return out;
}

function hashOf(r) {
	const said = new URLSearchParams();
	for (const key of Object.keys(initial)) {
		if (r[key] !== initial[key]) {
			said.set(key, r[key]);
		}
	}
	return "#" + said;
}

// go shows something else. It is a step for the back button, unless it is a refinement of
// what is shown.
function go(change, refine) {
	const next = {...route, ...change};
	if (hashOf(next) === hashOf(route)) {
		return;
	}
	if (refine) {
		location.replace(hashOf(next));
	} else {
		location.hash = hashOf(next);
	}
	travel(next); // now, and not when the browser says so: somebody may be typing
}

// openObject shows an object beside the list.
const openObject = (n) => go({object: uidOf(n)});

function travel(to) {
	const before = route;
	route = to;
	travellers.forEach((tell) => tell(route, before));
}

addEventListener("hashchange", () => {
	if (hashOf(readRoute()) !== hashOf(route)) {
		travel(readRoute());
	}
});
