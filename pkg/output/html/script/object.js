// An object is its place in the columns. Places from seen on are UIDs that nothing showed.
const objects = data.objects;
const seen = objects.name.length;

const isSeen = (n) => n >= 0 && n < seen;
const kindOf = (n) => data.kinds[objects.kind[n]];
const nameOf = (n) => objects.name[n];
const namespaceOf = (n) => isSeen(n) ? text(objects.namespace[n]) : "";
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

// haystacks are what a search looks in, for each object that was read.
const haystacks = later(() => {
	const kinds = data.kinds.map((k) => k.kind + "/");
	const out = new Array(seen);
	for (let n = 0; n < seen; n++) {
		out[n] = (kinds[objects.kind[n]] + objects.name[n] + " " + text(objects.namespace[n]) + " " + objects.uid[n]).toLowerCase();
	}
	return out;
});

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
