// SPDX-License-Identifier: GPL-2.0-or-later
// The tree of lanes, as rows: which are shown, in what order, and where.
import { visible } from "../format";
import { Applications } from "./applications";
import { type Curve, curvesOf } from "./curves";
import type { Sort } from "./store";
import type { Lane, LaneKind, Trace } from "./trace";

export interface Row {
	lane: Lane;
	key: number;			// of the lane, or of a group that has no lane
	depth: number;
	top: number;			// in px, from the first row on
	height: number;
	isOpen: boolean | null;		// null: it has nothing in it
	isPinned: boolean;
	title: string;
}

const HEIGHTS: Record<LaneKind, number> = { host: 30, process: 26, name: 22, thread: 20, cpu: 18 };
const THREADS_OPEN_MAX = 64, PROCESSES_OPEN_MAX = 8, NAMES_OPEN_MAX = 4;

export class LaneTree {
	readonly children: number[][];
	readonly roots: number[] = [];
	readonly laneOfThread = new Map<number, number>();
	readonly curves: Curve[];		// those that there is something for
	readonly applications: Applications;
	private processes = 0;

	constructor(readonly trace: Trace) {
		this.children = trace.lanes.map(() => []);
		this.curves = curvesOf(trace);
		for (const lane of trace.lanes) {
			if (lane.kind === "thread")
				this.laneOfThread.set(lane.thread, lane.id);
			this.processes += lane.kind === "process" ? 1 : 0;
			(this.children[lane.parent] ?? this.roots).push(lane.id);
		}
		this.applications = new Applications(this);
	}

	/** Those that all threads are below. */
	get tops(): Lane[] {
		return this.roots.map(id => this.trace.lanes[id]).filter(lane => lane.kind !== "cpu");
	}

	/** A small tree is all open; of a large one, what fits. */
	isOpenAtFirst(lane: Lane): boolean {
		if (this.laneOfThread.size <= THREADS_OPEN_MAX)
			return true;
		switch (lane.kind) {
		case "host": return true;
		case "process": return this.processes <= PROCESSES_OPEN_MAX;
		case "name": return this.children[lane.id].length <= NAMES_OPEN_MAX;
		default: return false;
		}
	}

	/** The fewest lanes that all these threads are below, and no others; null: all threads. */
	covering(threads: ReadonlySet<number> | null): Lane[] {
		const { lanes } = this.trace, chosen = lanes.map(lane => lane.kind === "thread" && threads?.has(lane.thread) ? 1 : 0);

		if (!threads)
			return this.tops;
		for (let i = lanes.length - 1; i >= 0; i--)
			if (lanes[i].parent >= 0)
				chosen[lanes[i].parent] += chosen[i];
		const below = (lane: Lane): Lane[] => chosen[lane.id] === lane.threads ? [lane] : chosen[lane.id] ? this.children[lane.id].flatMap(id => below(lanes[id])) : [];
		return this.tops.flatMap(below);
	}

	/** The nearest lane that is shown, of this or of what it is in. */
	shown(lane: number, rows: Map<number, Row>): Row | undefined {
		for (let id = lane; id >= 0; id = this.trace.lanes[id].parent) {
			const row = rows.get(id);
			if (row)
				return row;
		}
		return undefined;
	}

	/** From the outermost to the lane itself. */
	pathTo(lane: number): Lane[] {
		const path: Lane[] = [];

		for (let id = lane; id >= 0 && path.length < 8; id = this.trace.lanes[id].parent)
			path.unshift(this.trace.lanes[id]);
		return path;
	}
}

/** What a lane stands for, whatever its place is. */
function identities(trace: Trace): string[] {
	const made: string[] = [];

	for (const { kind, parent, thread, cpu, pid, name } of trace.lanes)
		made.push(kind === "thread" ? `thread ${thread}` : kind === "cpu" ? `cpu ${cpu}` : `${made[parent] ?? ""}/${kind} ${kind === "process" ? pid : name}`);
	return made;
}

/** Where the lanes of a trace are when it is known better. */
export function placesIn(later: Trace, earlier: Trace): Map<number, number> {
	const places = new Map(identities(later).map((identity, id) => [identity, id]));

	return new Map(identities(earlier).flatMap((identity, id) => places.has(identity) ? [[id, places.get(identity)!]] : []));
}

export function titleOf(lane: Lane): string {
	const name = visible(lane.name);

	if (lane.title !== undefined)
		return lane.title;
	switch (lane.kind) {
	case "thread": return `${name} ${lane.tid}`;
	case "process": return `${name} ${lane.pid}`;
	case "name": return `${name} \u00d7${lane.threads}`;
	case "cpu": return name || `CPU ${lane.cpu}`;
	default: return name;
	}
}

function orderOf(sort: Sort): (a: Lane, b: Lane) => number {
	const last = (lane: Lane) => lane.kind === "cpu" ? 2 : lane.is_idle ? 1 : 0;
	const byName = (a: Lane, b: Lane) => a.title !== undefined ? a.id - b.id : a.name.localeCompare(b.name, "en", { numeric: true }) || a.tid - b.tid || a.id - b.id;

	return (a, b) => last(a) - last(b) || (a.kind === "cpu" ? a.id - b.id : sort === "name" ? byName(a, b) : b.lost_ns - a.lost_ns || byName(a, b));
}

/** Lanes of these threads, and what they are in; null: all. CPUs are of all threads. */
function ofThreads(tree: LaneTree, threads: ReadonlySet<number> | null): Uint8Array | null {
	const { lanes } = tree.trace;

	if (!threads)
		return null;
	const is = Uint8Array.from(lanes, lane => lane.kind === "cpu" || (lane.kind === "thread" && threads.has(lane.thread)) ? 1 : 0);
	for (let i = lanes.length - 1; i >= 0; i--)
		if (is[i] && lanes[i].parent >= 0)
			is[lanes[i].parent] = 1;
	return is;
}

/** Lanes that have all the words, what is in them, and what they are in, of the threads that are looked at; null: all. */
function found(tree: LaneTree, words: string, threads: ReadonlySet<number> | null): Uint8Array | null {
	const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), { lanes } = tree.trace, within = ofThreads(tree, threads);

	if (!wanted.length)
		return within;
	const is = new Uint8Array(lanes.length);
	for (const lane of lanes) {		// parents come before their children
		const text = `${lane.name} ${lane.kind} ${lane.tid || ""} ${lane.pid || ""}`.toLowerCase();
		if ((!within || within[lane.id]) && (is[lane.parent] === 1 || wanted.every(word => text.includes(word))))
			is[lane.id] = 1;
	}
	for (let i = lanes.length - 1; i >= 0; i--)
		if (is[i] && lanes[i].parent >= 0 && !is[lanes[i].parent])
			is[lanes[i].parent] = 2;	// for the sake of what is in it
	return is;
}

interface Wanted {
	toggled: ReadonlySet<number>;
	pins: readonly number[];
	sort: Sort;
	words: string;
	threads: ReadonlySet<number> | null;	// those that are looked at; null: all
	alone: ReadonlySet<number> | null;	// what a trace that this one is compared with has not; null: it is compared with none
}

export interface Layout {
	pinned: Row[];
	rows: Row[];
	byLane: Map<number, Row>;	// of rows, else of pinned
	height: number;
	pinnedHeight: number;
}

export function layout(tree: LaneTree, wanted: Wanted): Layout {
	const { lanes } = tree.trace, shown = found(tree, wanted.words, wanted.threads), order = orderOf(wanted.sort), pins = new Set(wanted.pins);
	const titled = (lane: Lane) => wanted.alone?.has(lane.id) ? `${titleOf(lane)} \u2013 only here` : titleOf(lane);
	const rows: Row[] = [], pinned: Row[] = [], byLane = new Map<number, Row>();
	let top = 0, pinnedHeight = 0;

	for (const id of wanted.pins)
		if (lanes[id]) {
			const row = { lane: lanes[id], key: id, depth: 0, top: pinnedHeight, height: HEIGHTS[lanes[id].kind], isOpen: null, isPinned: true,
				title: titled(lanes[id]) };
			pinned.push(row);
			byLane.set(id, row);
			pinnedHeight += row.height;
		}
	const visit = (ids: number[], depth: number) => {
		for (const lane of ids.map(id => lanes[id]).sort(order)) {
			const below = tree.children[lane.id];
			if (shown && !shown[lane.id])
				continue;
			if (lane.kind !== "host" && lane.threads === 1 && below.length === 1) {	// the thread says it all
				visit(below, depth);
				continue;
			}
			const isOpen = tree.isOpenAtFirst(lane) !== wanted.toggled.has(lane.id) || (shown !== null && shown[lane.id] === 2);
			const row = { lane, key: lane.id, depth, top, height: HEIGHTS[lane.kind], isOpen: below.length ? isOpen : null,
				isPinned: pins.has(lane.id), title: titled(lane) };
			rows.push(row);
			byLane.set(lane.id, row);
			top += row.height;
			if (row.isOpen)
				visit(below, depth + 1);
		}
	};
	visit(tree.roots, 0);
	return { pinned, rows, byLane, height: top, pinnedHeight };
}

/** The first row that ends behind a height. */
export function rowAt(rows: Row[], y: number): number {
	let low = 0, high = rows.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (rows[middle].top + rows[middle].height <= y)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
