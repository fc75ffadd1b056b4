// element makes an element. Children are nodes, or text that stays text; empty ones are
// left out. Attributes named on… are listeners.
function element(name, attributes, ...children) {
	return furnish(document.createElement(name), attributes, children);
}

// svg is element for drawings.
function svg(name, attributes, ...children) {
	return furnish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function furnish(node, attributes, children) {
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (key.startsWith("on")) {
			node.addEventListener(key.slice(2), value);
		} else if (key.startsWith("aria-")) {
			node.setAttribute(key, value); // false is a value there
		} else if (value === true) {
			node.setAttribute(key, "");
		} else if (value !== false && value !== undefined && value !== null) {
			node.setAttribute(key, value);
		}
	}
	node.append(...children.flat(Infinity).filter((c) => c !== "" && c !== null && c !== undefined && c !== false));
	return node;
}

// refill gives a node these children and no others.
function refill(node, ...children) {
	node.replaceChildren();
	return furnish(node, null, children);
}

const byID = (id) => document.getElementById(id);

// thousands sets a number apart by commas.
const thousands = (n) => n.toLocaleString("en-US");

// counted is a number with its noun, which takes an s.
const counted = (n, noun) => thousands(n) + " " + noun + (n === 1 ? "" : "s");

// later makes a value when it is first asked for.
function later(make) {
	let made = false, value;
	return () => {
		if (!made) {
			made = true;
			value = make();
		}
		return value;
	};
}
