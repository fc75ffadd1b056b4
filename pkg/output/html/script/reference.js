// A reference is its place in the columns, those of the first object first.
const references = data.references;

// starts holds where the references of each object begin, and where the last end.
const starts = later(() => {
	const out = new Int32Array(seen + 1);
	for (let n = 0; n < seen; n++) {
		out[n + 1] = out[n] + objects.owners[n];
	}
	return out;
});

// ownersOf are the references of an object.
function ownersOf(n) {
	const out = [];
	if (isSeen(n)) {
		for (let r = starts()[n]; r < starts()[n + 1]; r++) {
			out.push(r);
		}
	}
	return out;
}

const bearers = later(() => {
	const out = new Int32Array(references.to.length);
	for (let n = 0; n < seen; n++) {
		out.fill(n, starts()[n], starts()[n + 1]);
	}
	return out;
});

// dependentOf is the object that a reference stands in, ownerOf what bears the UID it names.
const dependentOf = (r) => bearers()[r];
const ownerOf = (r) => references.to[r];

// incoming are the references by what they lead to: where those of each begin, and all.
const incoming = later(() => {
	const to = references.to, begin = new Int32Array(objects.uid.length + 1), all = new Int32Array(to.length);
	for (const n of to) {
		begin[n + 1]++;
	}
	for (let n = 0; n < objects.uid.length; n++) {
		begin[n + 1] += begin[n];
	}
	const next = begin.slice();
	to.forEach((n, r) => { all[next[n]++] = r; });
	return {begin, all};
});

// dependentsOf are the references that name an object as the owner.
const dependentsOf = (n) => incoming().all.subarray(incoming().begin[n], incoming().begin[n + 1]);

const verdictOf = (r) => data.verdicts[references.how[r] & 7];
const controls = (r) => (references.how[r] & 8) !== 0;
const blocks = (r) => (references.how[r] & 16) !== 0;

const claims = later(() => sparse(references.claims));

// claimOf is what a reference says of its owner, where that is not plainly what it leads to.
function claimOf(r) {
	const found = claims().get(r);
	return found ? {apiVersion: text(found[0]), kind: text(found[1]), name: text(found[2]), finding: found[3]} : null;
}

const tones = {solid: "good", dangling: "bad", waiting: "waits", unresolvable: "bad", "scope-error": "bad", unknown: "waits"};

// toneOf says how a reference is drawn.
const toneOf = (r) => tones[verdictOf(r).word];

// saidOf is what there is to say of a reference: nothing of one that holds.
function saidOf(r) {
	const claim = claimOf(r);
	if (claim && claim.finding >= 0) {
		return {fact: briefOf(claim.finding), effect: effectOf(claim.finding)};
	}
	return toneOf(r) === "good" ? null : {fact: verdictOf(r).word + ": " + verdictOf(r).meaning, effect: ""};
}
