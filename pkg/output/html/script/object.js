// An object is its place in the columns. Places from seen on are UIDs that nothing showed.
const objects = data.objects;
const seen = objects.name.length;

const isSeen = (n) => n >= 0 && n < seen;
const kindOf = (n) => data.kinds[objects.kind[n]];
const nameOf = (n) => objects.name[n];
const namespaceOf = (n) => isSeen(n) ? text(objects.namespace[n]) : "";
const placeNamed = (n) => namespaceOf(n) || "cluster-scoped";
const uidOf = (n) => objects.uid[n];
const ageOf = (n) => text(objects.age[n]);
const fateOf = (n) => isSeen(n) && objects.fate[n] >= 0 ? data.fates[objects.fate[n]] : null;

const endings = later(() => sparse(objects.ending));
const endingOf = (n) => endings().has(n) ? text(endings().get(n)[0]) : "";

const finalizers = later(() => sparse(objects.finalizers));
const finalizersOf = (n) => (finalizers().get(n) ?? []).map(text);

const places = later(() => new Map(objects.uid.map((uid, n) => [uid, n])));
const placeOf = (uid) => places().get(uid) ?? -1;

// titleOf is the kind and the name of an object. Of one that nothing showed it is what the
// first reference to it claims.
function titleOf(n) {
	if (isSeen(n)) {
		return [kindOf(n).kind, nameOf(n)];
	}
	const [first] = dependentsOf(n);
	const claim = first === undefined ? null : claimOf(first);
	return claim ? [claim.kind, claim.name] : ["", uidOf(n)];
}

const titled = (n) => titleOf(n).join("/");

// actionOf is what the garbage collector does with an object, if that changes it.
function actionOf(n) {
	const fate = fateOf(n);
	return fate && fate.tone !== "stays" ? fate.action || "delete" : "";
}

// linesOfObject are the words of its row.
const linesOfObject = (n) => [
	[["title", titled(n)], ["pill", actionOf(n)]],
	[["small", placeNamed(n)], ["small", [ageOf(n) && "age " + ageOf(n), endingOf(n)].filter(Boolean).join(" · ")]],
];

const haystacks = later(() => objects.name.map((_, n) => (wordsOf(linesOfObject(n)) + " " + uidOf(n)).toLowerCase()));

// The states that a filter of the objects knows.
const states = {
	"will be deleted": (n) => fateOf(n)?.tone === "goes",
	terminating: (n) => endingOf(n) !== "",
	"has finalizers": (n) => finalizers().has(n),
};

// matching answers whether a text holds every word of a query.
function matching(query) {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	return (hay) => words.every((w) => hay.includes(w));
}

// nameNodes shows an object: the kind in the background.
function nameNodes(kind, name) {
	return [kind && element("span", {class: "kind"}, kind + "/"), element("span", {class: "name"}, name)];
}

// command is a line to paste. Where a name needs quotes or holds what cannot be shown, the
// object is named by its UID; where that does too, there is none.
function command(verb, n) {
	const safe = (word) => /^[A-Za-z0-9_.:=,@%+-]+$/.test(word);
	const scope = namespaceOf(n) ? " -n " + namespaceOf(n) : "", flags = data.about.flags && " " + data.about.flags;
	if (safe(nameOf(n)) && safe(kindOf(n).word) && (!scope || safe(namespaceOf(n)))) {
		return "kubectl gc " + verb + " " + kindOf(n).word + "/" + nameOf(n) + scope + flags;
	}
	return safe(uidOf(n)) ? "kubectl gc " + verb + " --uid " + uidOf(n) + flags : "";
}
