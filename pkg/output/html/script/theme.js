// The theme is that of the system, unless somebody turns it; that is kept where the
// browser lets a file keep anything.
const themes = ["auto", "light", "dark"];
const kept = "kubectl-gc-report-theme";

function theme() {
	const set = document.documentElement.dataset.theme;
	return themes.includes(set) ? set : "auto";
}

function setTheme(name) {
	if (name === "auto") {
		delete document.documentElement.dataset.theme;
	} else {
		document.documentElement.dataset.theme = name;
	}
	const button = byID("theme");
	button.textContent = {auto: "◐", light: "○", dark: "●"}[name];
	button.title = "Theme: " + name + " (t)";
	button.setAttribute("aria-label", "Theme: " + name);
}

function turnTheme() {
	const name = themes[(themes.indexOf(theme()) + 1) % themes.length];
	setTheme(name);
	try {
		localStorage.setItem(kept, name);
	} catch {
		// it lasts as long as the page
	}
}

function startTheme() {
	let name = "auto";
	try {
		name = localStorage.getItem(kept) ?? name;
	} catch {
		// as above
	}
	setTheme(themes.includes(name) ? name : "auto");
}
