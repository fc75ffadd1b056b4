// The help names the keys.
const keys = [
	["/", "search"],
	["j k or ↓ ↑", "next and previous row"],
	["Enter", "open the row: an object, and from there any owner or dependent"],
	["← →", "in the picture: close and open what hangs on an object"],
	["o", "go between the list and the picture"],
	["1 2 3", "findings, objects, plan"],
	["t", "dark, light, or as the system"],
	["Esc", "leave the search, close the help, close the object"],
	["Alt ← →", "back and forward, as in any page"],
	["?", "this help"],
];

function showHelp() {
	const help = byID("help");
	refill(help,
		element("h2", {id: "help-title"}, "Keys"),
		element("dl", {}, keys.map(([key, what]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)])),
		element("p", {class: "dim"}, "A search finds the rows that have every word, in what they show, in their UID, and in the full text of a finding."),
		element("button", {type: "button", onclick: () => help.close()}, "Close"));
	if (!help.open) {
		help.showModal();
	}
}
