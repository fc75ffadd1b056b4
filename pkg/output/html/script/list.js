// List shows rows, however many: only those in sight are there. The box has the focus, and
// says which row is meant (aria-activedescendant).
class List {
	// rows says how rows look and what opening one does: {id, role, row(i), height(i, width),
	// open(i)}.
	constructor(box, rows) {
		this.box = box;
		this.rows = rows;
		this.count = 0;
		this.at = -1;
		this.space = element("div", {class: "space", role: "presentation"});
		this.sight = element("div", {class: "sight", role: "presentation"});
		this.space.append(this.sight);
		this.box.replaceChildren(this.space);
		this.scrolled = () => this.draw();
		this.sized = new ResizeObserver(() => this.show(this.count, this.at));
		this.box.addEventListener("scroll", this.scrolled, {passive: true});
		this.sized.observe(box);
	}

	// leave takes the list out of its box.
	leave() {
		this.box.removeEventListener("scroll", this.scrolled);
		this.sized.disconnect();
	}

	show(count, at = -1) {
		this.count = count;
		this.at = Math.min(at, count - 1);
		this.tops = new Float64Array(count + 1);
		for (let i = 0; i < count; i++) {
			this.tops[i + 1] = this.tops[i] + this.rows.height(i, this.box.clientWidth);
		}
		this.space.style.height = this.tops[count] + "px";
		this.drawn = "";
		this.draw();
	}

	// rowAt is the row at a height.
	rowAt(y) {
		let first = 0, end = this.count;
		while (first + 1 < end) {
			const middle = (first + end) >> 1;
			[first, end] = this.tops[middle] > y ? [first, middle] : [middle, end];
		}
		return first;
	}

	draw() {
		const top = this.box.scrollTop, first = Math.max(0, this.rowAt(top) - 5);
		const end = Math.min(this.count, this.rowAt(top + (this.box.clientHeight || 600)) + 6);
		const drawn = first + "-" + end;
		if (drawn === this.drawn) {
			return;
		}
		this.drawn = drawn;
		this.sight.style.transform = "translateY(" + this.tops[first] + "px)";
		const rows = [];
		for (let i = first; i < end; i++) {
			rows.push(this.place(i));
		}
		this.sight.replaceChildren(...rows);
		this.mark();
	}

	place(i) {
		const row = this.rows.row(i);
		row.id = this.rows.id + "-" + i;
		row.dataset.row = i;
		row.style.height = this.tops[i + 1] - this.tops[i] + "px";
		row.setAttribute("role", this.rows.role);
		row.setAttribute("aria-setsize", this.count);
		row.setAttribute("aria-posinset", i + 1);
		row.addEventListener("click", (e) => {
			this.mean(i);
			if (!e.defaultPrevented) {
				this.rows.open(i);
			}
		});
		return row;
	}

	mark() {
		for (const row of this.sight.children) {
			row.setAttribute("aria-selected", Number(row.dataset.row) === this.at);
		}
		const id = this.rows.id + "-" + this.at;
		if (byID(id)) {
			this.box.setAttribute("aria-activedescendant", id);
		} else {
			this.box.removeAttribute("aria-activedescendant");
		}
	}

	// mean moves to a row and brings it into sight.
	mean(i) {
		if (this.count === 0) {
			return;
		}
		this.at = Math.max(0, Math.min(i, this.count - 1));
		const top = this.tops[this.at], below = this.tops[this.at + 1] - this.box.clientHeight;
		if (top < this.box.scrollTop) {
			this.box.scrollTop = top;
		} else if (below > this.box.scrollTop) {
			this.box.scrollTop = below;
		}
		this.draw();
		this.mark();
	}

	// key does what a key means in a list, and says whether it means anything.
	key(name) {
		const page = Math.max(1, this.rowAt(this.box.scrollTop + this.box.clientHeight) - this.rowAt(this.box.scrollTop) - 1);
		const to = {
			j: this.at + 1, ArrowDown: this.at + 1, k: this.at - 1, ArrowUp: this.at - 1,
			PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.count - 1,
		}[name];
		if (to !== undefined) {
			this.mean(to);
			return true;
		}
		if (name === "Enter" && this.at >= 0) {
			this.rows.open(this.at);
			return true;
		}
		return false;
	}
}
