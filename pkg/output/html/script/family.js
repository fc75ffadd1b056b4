// A family is the lines of the picture of one object: its owners above, nearest last, the
// object, its dependents below. Each line hangs by one reference; what has several owners
// stands in full once, and the other lines point there.

const few = 8; // how many of a large number stand there before somebody asks for more
const room = 60; // lines that open by themselves
const levels = 40; // what lies deeper is reached by going there

class Family {
	constructor(root) {
		this.root = root;
		this.more = new Map(); // by side and object, how many to show
		this.turned = new Map(); // by side and object, whether somebody opened or closed it
		this.lay();
	}

	lay() {
		const above = this.side("up"), below = this.side("down");
		this.lines = [...above.reverse(), {type: "root", node: this.root, depth: 0, side: "", guides: []}, ...below];
		this.home = above.length;
	}

	// next are the references that lead on from an object, to a side.
	next(side, n) {
		return side === "up" ? ownersOf(n) : Array.from(dependentsOf(n));
	}

	end(side, r) {
		return side === "up" ? ownerOf(r) : dependentOf(r);
	}

	// side is what hangs on one side of the root, depth first. Near ones open first, as long
	// as there is room.
	side(side) {
		const opened = this.opened(side), lines = [], shown = new Set([this.root]);
		const work = [{refs: this.next(side, this.root), node: this.root, done: 0, depth: 1, guides: []}];
		while (work.length > 0) {
			const at = work.at(-1), limit = this.limit(side, at.node, at.refs.length);
			if (at.done >= limit) {
				if (at.refs.length > limit) {
					lines.push({type: "more", node: at.node, hidden: at.refs.length - limit, depth: at.depth, side, guides: at.guides, last: true});
				}
				work.pop();
				continue;
			}
			const r = at.refs[at.done++], node = this.end(side, r);
			const last = at.done === at.refs.length;
			const line = {type: "object", node, ref: r, depth: at.depth, side, guides: at.guides, last};
			line.again = shown.has(node);
			lines.push(line);
			const refs = line.again ? [] : this.next(side, node);
			shown.add(node);
			if (refs.length === 0) {
				continue;
			}
			line.below = refs.length;
			line.open = at.depth < levels && (this.turned.get(side + node) ?? opened.has(node));
			line.far = at.depth >= levels;
			if (line.open) {
				work.push({refs, node, done: 0, depth: at.depth + 1, guides: last ? at.guides : [...at.guides, at.depth]});
			}
		}
		return lines;
	}

	// opened are the objects that open by themselves: level by level, while there is room.
	opened(side) {
		const out = new Set([this.root]);
		let level = [this.root], used = 0;
		while (level.length > 0) {
			const beyond = [];
			for (const n of level) {
				const refs = this.next(side, n), limit = this.limit(side, n, refs.length);
				if (n !== this.root && used + limit > room) {
					continue;
				}
				used += limit;
				out.add(n);
				for (const r of refs.slice(0, limit)) {
					const m = this.end(side, r);
					if (!out.has(m)) {
						beyond.push(m);
					}
				}
			}
			level = used < room ? beyond : [];
		}
		return out;
	}

	limit(side, n, all) {
		const wanted = this.more.get(side + n) ?? (all > few + 2 ? few : all);
		return Math.min(all, wanted);
	}

	// unfold shows more of what hangs on an object: all of it.
	unfold(side, n) {
		this.more.set(side + n, Infinity);
		this.lay();
	}

	// turn opens or closes an object.
	turn(line, open) {
		if (line.below > 0 && !line.far && line.open !== open) {
			this.turned.set(line.side + line.node, open);
			this.lay();
			return true;
		}
		return false;
	}
}
