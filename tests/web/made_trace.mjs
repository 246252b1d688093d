// SPDX-License-Identifier: GPL-2.0-or-later
// A trace that was made up: each state of each thread is known, so that what the viewer shows can be compared with it.
import { numbers } from "./data.mjs";

export const SHARES = ["unknown", "running", "spinning", "runnable", "lock", "condition", "file", "socket", "sleep"];
const RUNNING = 1, RUNNABLE = 3, LOCK = 4, CPU_OTHER = 2, CPU_IDLE = 3;
const COLUMNS = 256, SLICES_MAX = 512, SLICES_SHIFT_MAX = 19;
export const FIRST_NS = 5e12;

function varint(bytes, value) {
	for (; value >= 128; value = Math.floor(value / 128))
		bytes.push(value % 128 + 128);
	bytes.push(value);
}

/** What a thread does: it runs, waits for something, is woken by another one, waits for a CPU, and runs again. */
function statesOf(thread, { threads, whole_ns, mean_ns }) {
	const next = numbers(thread * 7919 + 1), slices = [];
	const about = mean => 1 + Math.floor(mean * 2 * next());
	let at = thread % 5 === 4 ? 1e8 : 0;		// some are born later
	const add = (share, length, waker = 0) => {
		const end = Math.min(whole_ns, at + length);
		if (end > at)
			slices.push({ begin: at, end, share, waker });
		at = end;
	};

	while (at < whole_ns) {
		add(RUNNING, about(mean_ns));
		add(LOCK + Math.floor(next() * 5), about(thread % 7 === 6 ? mean_ns * 40 : mean_ns * 2));
		add(RUNNABLE, about(mean_ns / 4), 1 + Math.floor(next() * threads));
	}
	return slices;
}

export class MadeTrace {
	constructor({ name = "made.pinch", processes = 2, names = 3, each = 4, cpus = 4, whole_ns = 1e9, mean_ns = 2e6, events = 100000, hosts = 1, gaps = [] } = {}) {
		const threads = hosts * processes * names * each;

		Object.assign(this, { name, whole_ns, events, threads, mean_ns, hosts, gaps, origin_ns: -FIRST_NS, slices: new Map(), tiles: new Map() });
		this.lanes = [];
		for (let h = 0, thread = 1; h < hosts; h++) {
			const host = this.lane({ kind: "host", parent: -1, name: `host${h}`, threads: processes * names * each });
			for (let p = 0; p < processes; p++) {
				const pid = 1000 * (h + 1) + 100 * p;
				const process = this.lane({ kind: "process", parent: host, name: `server-${p}`, pid, tid: pid, threads: names * each });
				for (let n = 0; n < names; n++) {
					const group = this.lane({ kind: "name", parent: process, name: `worker${n}`, pid, threads: each });
					for (let i = 0; i < each; i++, thread++)
						this.lane({ kind: "thread", parent: group, name: `worker${n}`, pid, tid: 20000 + thread, threads: 1, thread });
				}
			}
			for (let cpu = 0; cpu < cpus; cpu++)
				this.lane({ kind: "cpu", parent: host, name: `CPU ${cpu}`, cpu, threads: 1 });
		}
		this.processNames = new Map(this.lanes.filter(lane => lane.kind === "process").map(lane => [lane.pid, lane.name]));
		this.laneOf = new Map(this.lanes.filter(lane => lane.kind === "thread").map(lane => [lane.thread, lane.id]));
	}

	lane(of) {
		const id = this.lanes.length;

		this.lanes.push({ id, tid: 0, pid: 0, thread: 0, cpu: 0, begin_ns: 0, end_ns: this.whole_ns, ns: {}, lost_ns: 0, is_idle: false, ...of });
		return id;
	}

	/** The numbers of the threads of a lane. */
	threadsOf(lane) {
		if (lane.kind === "thread")
			return [lane.thread];
		lane.below ??= this.lanes.filter(one => one.parent === lane.id && one.kind !== "cpu").flatMap(one => this.threadsOf(one));
		return lane.below;
	}

	statesOf(thread) {
		if (!this.slices.has(thread))
			this.slices.set(thread, this.withGaps(statesOf(thread, this)));
		return this.slices.get(thread);
	}

	/** From the begin of a gap to the first change behind it nobody knows what a thread did. */
	withGaps(slices) {
		for (const { begin_ns, end_ns } of this.gaps) {
			const until = slices.find(slice => slice.begin >= end_ns)?.begin ?? this.whole_ns;
			slices = slices.flatMap(slice => slice.begin >= until || slice.end <= begin_ns ? [slice] : slice.begin < begin_ns ? [{ ...slice, end: begin_ns },
				{ begin: begin_ns, end: until, share: 0, waker: 0 }] : []);
		}
		return slices;
	}

	/** Of a CPU: which thread had it, another program's, or none. */
	cpuSlices(cpu) {
		const key = -1 - cpu, next = numbers(cpu + 99), slices = [];

		if (!this.slices.has(key)) {
			for (let at = 0; at < this.whole_ns; ) {
				const end = Math.min(this.whole_ns, at + 1 + Math.floor(this.mean_ns * next())), share = next() < 0.8 ? 1 : CPU_OTHER;
				slices.push({ begin: at, end, share, waker: share === 1 ? 1 + Math.floor(next() * this.threads) : 777 });
				at = Math.min(this.whole_ns, end + 1 + Math.floor(this.mean_ns * next()));
				if (at > end)
					slices.push({ begin: end, end: at, share: CPU_IDLE, waker: 0 });
			}
			this.slices.set(key, slices.filter(slice => !this.gaps.some(gap => slice.end > gap.begin_ns && slice.begin < gap.end_ns)));
		}
		return this.slices.get(key);
	}

	/** The ns of each share of a lane in a stretch of time, by going through all of its states. */
	sharesIn(lane, from, to) {
		const sums = new Map();

		for (const slices of lane.kind === "cpu" ? [this.cpuSlices(lane.cpu)] : this.threadsOf(lane).map(thread => this.statesOf(thread)))
			for (let i = firstBehind(slices, from); i < slices.length && slices[i].begin < to; i++) {
				const ns = Math.min(to, slices[i].end) - Math.max(from, slices[i].begin);
				sums.set(slices[i].share, (sums.get(slices[i].share) ?? 0) + ns);
			}
		return sums;
	}

	/** Sums of the whole trace, which lanes are sorted by. */
	account() {
		for (const lane of this.lanes) {
			const sums = this.sharesIn(lane, 0, this.whole_ns);
			lane.ns = lane.kind === "cpu" ? [] : SHARES.map((_, share) => sums.get(share) ?? 0);
			lane.lost_ns = lane.kind === "cpu" ? 0 : [...sums].reduce((all, [share, ns]) => share === RUNNING ? all : all + ns, 0);
			lane.is_idle = lane.kind === "thread" && lane.thread % 7 === 6;
		}
	}

	info() {
		if (!this.isAccounted)
			this.account();
		this.isAccounted = true;
		const { name, whole_ns, origin_ns, events } = this;
		return { name, is_ready: true, first_ns: FIRST_NS, begin_ns: 0, whole_ns, origin_ns, events, left_out: 0, is_live: this.isLive ?? false, key: this.key ?? "made", shares: SHARES, gaps: this.gaps, cpu_shares: ["unknown", "traced", "other program", "idle"],
			lanes: this.lanes.map(({ below, parent, ...lane }) => parent < 0 ? lane : { ...lane, parent }) };
	}

	tile(lane, shift, index) {
		const key = `${lane.id}/${shift}/${index}`;

		if (!this.tiles.has(key))
			this.tiles.set(key, this.makeTile(lane, shift, index));
		return this.tiles.get(key);
	}

	makeTile(lane, shift, index) {
		const from = this.origin_ns + index * 2 ** (shift + 8), to = Math.min(this.whole_ns, from + 2 ** (shift + 8)), bytes = [];
		const single = lane.kind === "cpu" ? this.cpuSlices(lane.cpu) : lane.threads === 1 ? this.statesOf(this.threadsOf(lane)[0]) : null;

		if (single && shift <= SLICES_SHIFT_MAX) {
			const first = firstBehind(single, from);
			let last = first;
			while (last < single.length && single[last].begin < to)
				last++;
			if (last - first <= SLICES_MAX)
				return this.putSlices(bytes, lane, single.slice(first, last), from, to);
		}
		return this.putColumns(bytes, lane, shift, from, to);
	}

	putSlices(bytes, lane, slices, from, to) {
		let before = from;

		if (!slices.length) {
			bytes.push(0);
			return bytes;
		}
		varint(bytes, 1);
		varint(bytes, slices.length);
		for (const { begin, end, share, waker } of slices) {
			const left = Math.max(begin, from), right = Math.min(end, to);
			varint(bytes, left - before);
			varint(bytes, right - left);
			varint(bytes, share);
			varint(bytes, (begin < from ? 1 : 0) | (end > to ? 2 : 0));
			if (lane.kind === "cpu" ? share === 1 || share === CPU_OTHER : share === RUNNABLE)
				varint(bytes, waker);
			before = right;
		}
		return bytes;
	}

	putColumns(bytes, lane, shift, from, to) {
		const columns = Array.from({ length: COLUMNS }, () => new Map()), size = 2 ** shift;

		for (const slices of lane.kind === "cpu" ? [this.cpuSlices(lane.cpu)] : this.threadsOf(lane).map(thread => this.statesOf(thread)))
			for (let i = firstBehind(slices, from); i < slices.length && slices[i].begin < to; i++) {
				const { begin, end, share } = slices[i], last = Math.min(to, end);
				for (let at = Math.max(begin, from); at < last; ) {
					const column = Math.floor((at - from) / size), right = Math.min(last, from + (column + 1) * size);
					columns[column].set(share, (columns[column].get(share) ?? 0) + right - at);
					at = right;
				}
			}
		if (columns.every(column => !column.size)) {
			bytes.push(0);
			return bytes;
		}
		varint(bytes, 2);
		const texts = columns.map(column => [...column].sort((a, b) => a[0] - b[0]).join(";"));
		for (let i = 0; i < COLUMNS; ) {
			let last = i + 1;
			while (last < COLUMNS && texts[last] === texts[i])
				last++;
			varint(bytes, last - i);
			varint(bytes, columns[i].size);
			for (const [share, ns] of [...columns[i]].sort((a, b) => a[0] - b[0])) {
				varint(bytes, share);
				varint(bytes, ns);
			}
			i = last;
		}
		return bytes;
	}

	sliceAt(lane, time) {
		const slices = lane.kind === "thread" ? this.statesOf(lane.thread) : [], slice = slices[firstBehind(slices, time)];

		return slice && slice.begin <= time ? slice : null;
	}

	/** An event of the program's own in each thread, a hundred times. */
	marksIn(from, to, lanes) {
		const marks = [], step = this.whole_ns / 100;

		for (const id of lanes)
			for (let i = Math.max(1, Math.ceil(from / step)); i * step < to && i < 100; i++)
				marks.push([id, Math.round(i * step), i % 2, 100 * id + i]);
		return { names: ["request.BEGIN", "request.END"], marks, left_out: 0 };
	}

	/** Requests of each thread, some within others, and messages to the next one; by their begins. */
	get activities() {
		if (!this.found) {
			const step = this.whole_ns / 50;
			this.found = [];
			for (let thread = 1; thread <= this.threads; thread++)
				for (let i = 0; i < 50; i++) {
					const begin_ns = Math.round(i * step + thread * 1000), put = (name, from, length, of = {}) => this.found.push({ name, thread, end_thread: thread, begin_ns: begin_ns + from,
						end_ns: begin_ns + from + length, is_message: false, words: `argument=${i}`, ...of });
					put("request", 0, Math.round(step * 0.6));
					put("parse", Math.round(step * 0.1), Math.round(step * 0.2));
					if (i % 5 === 0)
						put("mail", Math.round(step * 0.7), Math.round(step * 0.05), { end_thread: thread % this.threads + 1, is_message: true, words: `argument=${i} receiver=${thread % this.threads + 1}` });
				}
			this.found.sort((a, b) => a.begin_ns - b.begin_ns || a.end_ns - b.end_ns);
		}
		return this.found;
	}

	activitiesIn(from, to, lanes) {
		const names = ["request", "parse", "mail"], wanted = new Set(lanes), lane = thread => this.laneOf.get(thread) ?? -1;

		return { names, left_out: 0, until_ns: this.whole_ns, is_complete: true, activities: this.activities
			.filter(one => one.end_ns >= from && one.begin_ns < to && (wanted.has(lane(one.thread)) || wanted.has(lane(one.end_thread))))
			.map(one => [lane(one.thread), one.begin_ns, one.end_ns, names.indexOf(one.name), lane(one.end_thread), one.is_message, one.words]) };
	}

	/** How lanes spent a stretch of time. */
	stretch(from_ns, to_ns, lanes) {
		return { from_ns, to_ns, lanes: lanes.map(lane => {
			const sums = this.sharesIn(this.lanes[lane], from_ns, to_ns);
			return { lane, ns: this.lanes[lane].kind === "cpu" ? [] : SHARES.map((_, share) => sums.get(share) ?? 0) };
		}) };
	}

	/** The row of this number: its time grows with it. */
	event(row, rows = this.events) {
		const thread = 1 + row * 31 % this.threads, lane = this.lanes[this.laneOf.get(thread)], time_ns = this.timeOf(row, rows);

		return { row, time_ns, host: "host0", cpu: row % 4, process: this.processNames.get(lane.pid), pid: lane.pid, thread, tid: lane.tid, name: lane.name,
			event: row % 3 ? "sched.SWITCH" : "sched.WAKING", text: row % 3 ? `next=${row} prev_state=1` : `target=${row}` };
	}

	timeOf(row, rows) {
		return Math.floor(row * this.whole_ns / rows);
	}
}

/** The first slice that ends behind a time. */
export function firstBehind(slices, time) {
	let low = 0, high = slices.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (slices[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
