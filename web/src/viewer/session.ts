// SPDX-License-Identifier: GPL-2.0-or-later
// All that belongs to the trace that is looked at, and the ways to move in it.
import { laterBy, type Range } from "../range";
import { chosenShares, chosenThreads, whoseNames } from "./chosen";
import { type Curve, stacked } from "./curves";
import { LaneTree, layout, type Layout, placesIn } from "./lanes";
import { Link } from "./link";
import { isSamePlace, keepNotes, NOTES_MAX } from "./notes";
import { Scripts } from "./scripts";
import { partNames, partText } from "./part_query";
import type { Server } from "./server";
import { flipped, type Overlay, overlays, type State, Store } from "./store";
import { Tiles } from "./tiles";
import type { Lane, Trace } from "./trace";

const VIEW_NS_MIN = 100, AROUND = 4, SEEN_SHARE = 0.004, FOLLOWED_NS = 10e9;

const allOverlays: ReadonlySet<Overlay> = new Set(overlays);

/** The other of two traces that are compared. */
export interface Companion {
	/** In the time of the session. */
	whole(of: Session): Range;
	/** Lanes of what the other trace has not; the same set as long as they are the same. */
	alone(of: Session): ReadonlySet<number>;
	/** Where the pointer is; null: nowhere. */
	hover(of: Session, time_ns: number | null): void;
	/** The time that is being selected; null: none is. */
	drag(of: Session, range: Range | null): void;
}

export class Session {
	tree: LaneTree;
	readonly tiles: Tiles;
	readonly scripts: Scripts;
	companion: Companion | null = null;
	hovered_ns: number | null = null;	// where the pointer is on the other side
	dragged: Range | null = null;		// what is being selected there
	private parts: { of: unknown[]; tiles: Tiles | null } | null = null;
	private tileListeners = new Set<() => void>();
	private made: { of: unknown[]; layout: Layout } | null = null;
	private filtered: { of: unknown[]; threads: ReadonlySet<number> | null } | null = null;
	private looked: { of: unknown[]; lanes: Lane[] } | null = null;
	private drawn: { of: unknown[]; curves: Curve[] } | null = null;

	constructor(readonly server: Server, public trace: Trace, readonly store = new Store(), readonly link = new Link(store)) {
		this.tree = new LaneTree(trace);
		keepNotes(store, trace);
		this.tiles = new Tiles(server, trace, () => this.redraw());
		this.scripts = new Scripts(this);
		this.scripts.open();
	}

	redraw(): void {
		this.tileListeners.forEach(listener => listener());
	}

	/** What the server calls the script in use; null: there is none. */
	get scriptId(): string | null {
		return this.store.state.scriptRun?.id ?? null;
	}

	/** Whether the script in use chooses events. */
	get hasScriptFilter(): boolean {
		return this.store.state.scriptRun?.has_filter ?? false;
	}

	/** When tiles have come. Returns what ends it. */
	onTiles(listener: () => void): () => void {
		this.tileListeners.add(listener);
		return () => { this.tileListeners.delete(listener); };
	}

	/** What is known of the trace by now: its lanes may have other places, and its times count from another moment. */
	update(trace: Trace): void {
		const places = placesIn(trace, this.trace), by_ns = trace.first_ns - this.trace.first_ns;

		this.tiles.update(trace, places);
		this.parts?.tiles?.update(trace, places);
		this.trace = trace;
		this.tree = new LaneTree(trace);
		if (by_ns)
			this.store.selection = this.store.selection && laterBy(this.store.selection, -by_ns);
		this.store.set(by_ns || [...places].some(([from, to]) => from !== to) ? this.moved(places, by_ns) : {});
	}

	/** The same, by the places and the times of what is known by now. */
	private moved(places: ReadonlyMap<number, number>, by_ns: number): Partial<State> {
		const { view, toggled, pins, focus, slice, cursor_ns } = this.store.state;
		const placesOf = (lane: number): number[] => places.has(lane) ? [places.get(lane)!] : [];

		return {
			view: view && laterBy(view, -by_ns), toggled: new Set([...toggled].flatMap(placesOf)), pins: pins.flatMap(placesOf),
			focus: focus === null ? null : placesOf(focus)[0] ?? null, cursor_ns: cursor_ns === null ? null : cursor_ns - by_ns,
			slice: slice && placesOf(slice.lane).map(lane => ({ lane, time_ns: slice.time_ns - by_ns }))[0] || null,
		};
	}

	/** The same lanes are known for longer. */
	grow(whole_ns: number): void {
		if (whole_ns <= this.trace.whole_ns)
			return;
		this.trace = { ...this.trace, whole_ns };
		this.tiles.update(this.trace, null);
		this.parts?.tiles?.update(this.trace, null);
		this.store.set({});
	}

	/** Stays at the end, with as much as is seen, or with the last few seconds. */
	follow(width_ns = this.store.state.view ? this.view.to_ns - this.view.from_ns : FOLLOWED_NS): void {
		this.store.set({ view: null, follow: width_ns });
	}

	/** What is seen stays. */
	stay(): void {
		if (this.store.state.follow !== null)
			this.store.set({ view: this.view, follow: null });
	}

	showAll(): void {
		this.store.set({ view: null, follow: null });
	}

	get view(): Range {
		const { view, follow } = this.store.state, { whole } = this;

		if (follow !== null)
			return { from_ns: Math.max(whole.from_ns, whole.to_ns - follow), to_ns: whole.to_ns };
		return view && view.from_ns < this.whole.to_ns ? view : this.whole;	// a link may be of a longer trace
	}

	/** What can be seen: of two traces that are compared, the time of both. */
	get whole(): Range {
		return this.companion?.whole(this) ?? this.own;
	}

	/** As long as anything is known of a thread: tracing begins earlier. */
	get own(): Range {
		const { begin_ns, whole_ns } = this.trace;

		return { from_ns: begin_ns, to_ns: Math.max(begin_ns + 1, whole_ns) };
	}

	/** The rows that are shown; made when something that they depend on is another one. */
	get layout(): Layout {
		const { toggled, pins, sort, words } = this.store.state, threads = this.filteredThreads, alone = this.companion?.alone(this) ?? null, of = [this.tree, toggled, pins, sort, words, threads, alone];

		if (!this.made || of.some((part, i) => part !== this.made!.of[i]))
			this.made = { of, layout: layout(this.tree, { toggled, pins, sort, words, threads, alone }) };
		return this.made.layout;
	}

	/** What is not drawn with the lanes. Executions have their states alone. */
	get hidden(): ReadonlySet<Overlay> {
		return this.trace.isOfExecutions ? allOverlays : this.store.state.hidden;
	}

	/** The curves that are shown. */
	get curves(): Curve[] {
		const { hidden } = this, of = [this.tree, hidden];

		if (!this.drawn || of.some((part, i) => part !== this.drawn!.of[i]))
			this.drawn = { of, curves: stacked(this.tree.curves.filter(curve => !hidden.has(curve.name))) };
		return this.drawn.curves;
	}

	lane(id: number | null): Lane | undefined {
		return id === null ? undefined : this.trace.lanes[id];
	}

	/** Within the trace, and not nearer than can be told apart. */
	setView(from_ns: number, to_ns: number): void {
		const { whole } = this, width_ns = Math.max(VIEW_NS_MIN, to_ns - from_ns);

		if (width_ns >= whole.to_ns - whole.from_ns) {
			if (this.trace.is_live && width_ns <= this.view.to_ns - this.view.from_ns + 1)	// moved, not wider
				this.store.set({ view: this.view, follow: null });
			else
				this.showAll();
			return;
		}
		const from = Math.max(Math.min(0, whole.from_ns), Math.min(from_ns, whole.to_ns - width_ns));
		this.store.set({ view: { from_ns: from, to_ns: from + width_ns }, follow: null });
	}

	/** at_ns stays where it is. */
	zoom(factor: number, at_ns: number): void {
		const { from_ns, to_ns } = this.view, width_ns = Math.max(VIEW_NS_MIN, (to_ns - from_ns) * factor);
		const part = (at_ns - from_ns) / (to_ns - from_ns);

		if (this.store.state.follow !== null) {		// it is the end that stays where it is
			this.follow(Math.min(width_ns, this.whole.to_ns - this.whole.from_ns));
			return;
		}
		this.setView(at_ns - part * width_ns, at_ns + (1 - part) * width_ns);
	}

	/** By a part of what is seen. */
	pan(part: number): void {
		const { from_ns, to_ns } = this.view, by_ns = part * (to_ns - from_ns);

		this.setView(from_ns + by_ns, to_ns + by_ns);
	}

	zoomToSelection(): void {
		const { selection } = this.store, { slice } = this.store.state;

		if (selection)
			this.setView(selection.from_ns, selection.to_ns);
		else if (slice)
			this.reveal(slice.lane, slice.time_ns, slice.time_ns + (this.view.to_ns - this.view.from_ns) / 10);
	}

	/** A stretch of time, and lanes; none: all of them. */
	select(range: Range | null, boxed: readonly number[] = []): void {
		const { whole } = this;

		if (boxed.length || this.store.state.boxed.length)
			this.store.set({ boxed: range ? [...new Set(boxed)] : [] });
		this.store.selection = range && { from_ns: Math.max(Math.min(0, Math.floor(whole.from_ns)), Math.round(range.from_ns)), to_ns: Math.min(whole.to_ns, Math.round(range.to_ns)) };
	}

	/** Numbers of the threads that the filters choose; null: all. The same set as long as they are the same. */
	get filteredThreads(): ReadonlySet<number> | null {
		const { filters } = this.store.state, of = [this.trace, ...whoseNames.map(name => filters[name] ?? "")];

		if (!this.filtered || of.some((part, i) => part !== this.filtered!.of[i]))
			this.filtered = { of, threads: chosenThreads(this.trace, filters) };
		return this.filtered.threads;
	}

	/** Lanes that stand for the threads that the filters choose: curves and the overview are of these. */
	get lookedAt(): Lane[] {
		const of = [this.tree, this.filteredThreads];

		if (!this.looked || of.some((part, i) => part !== this.looked!.of[i]))
			this.looked = { of, lanes: this.tree.covering(this.filteredThreads) };
		return this.looked.lanes;
	}

	/** Tiles of the parts that filters of CPUs, spans and of what waits are for choose; null: there are no such filters. */
	get chosenTiles(): Tiles | null {
		const { filters } = this.store.state, of = partNames.map(name => filters[name] ?? "");

		if (!this.parts || of.some((part, i) => part !== this.parts!.of[i])) {
			const text = partText(filters), before = this.parts?.tiles ?? null;
			if (before?.chosen !== text)
				before?.stop();
			this.parts = { of, tiles: !text ? null : before?.chosen === text ? before : new Tiles(this.server, this.trace, () => this.redraw(), text) };
		}
		return this.parts.tiles;
	}

	/** The server is back. */
	again(): void {
		this.tiles.again();
		this.parts?.tiles?.again();
	}

	/** Bits of the states that the filter of causes chooses; null: all. */
	get chosenShares(): number | null {
		return chosenShares(this.trace, this.store.state.filters);
	}

	/** Whether filters choose parts of what threads did: the rest is pale. */
	get isOfParts(): boolean {
		return this.chosenTiles !== null || this.chosenShares !== null;
	}

	/** Numbers of the threads of which a report is made and events are saved: by filters and selected lanes; null: of all. */
	get reportedThreads(): number[] | null {
		const chosen = this.filteredThreads, boxed = this.boxedThreads;

		if (!boxed.length)
			return chosen && [...chosen];
		return chosen ? boxed.filter(thread => chosen.has(thread)) : boxed;
	}

	/** Numbers of the threads of the lanes that are selected; none: of all. */
	get boxedThreads(): number[] {
		const { lanes } = this.trace, { boxed } = this.store.state;
		const below = (id: number): number[] => lanes[id]?.kind === "thread" ? [lanes[id].thread] : (this.tree.children[id] ?? []).flatMap(below);

		return [...new Set(boxed.flatMap(below))].sort((a, b) => a - b);
	}

	/** At a time, of a lane or of none, unless there is one. */
	addNote(time_ns: number, lane: number | null): void {
		const { notes } = this.store.state, note = { time_ns: Math.round(time_ns), lane, text: "" };

		if (notes.length < NOTES_MAX && !notes.some(one => isSamePlace(one, note)))
			this.store.set({ notes: [...notes, note].sort((a, b) => a.time_ns - b.time_ns) });
	}

	toggle(lane: number): void {
		this.store.set({ toggled: flipped(this.store.state.toggled, lane) });
	}

	pin(lane: number): void {
		const { pins } = this.store.state;

		this.store.set({ pins: pins.includes(lane) ? pins.filter(id => id !== lane) : [...pins, lane] });
	}

	/** Opens what the lane is in, and forgets a filter that hides it. */
	private uncover(lane: number): void {
		if (this.layout.byLane.has(lane))
			return;
		if (this.store.state.words)
			this.store.set({ words: "" });
		if (this.filteredThreads && !this.layout.byLane.has(lane))
			this.store.set({ filters: { ...this.store.state.filters, host: "", process: "", thread: "" } });
		for (const { id } of this.tree.pathTo(lane).slice(0, -1))
			if (this.layout.byLane.get(id)?.isOpen === false)
				this.toggle(id);
	}

	/** Brings a slice of a lane into view, with what is around it. */
	reveal(lane: number, begin_ns: number, end_ns: number): void {
		const { from_ns, to_ns } = this.view, width_ns = to_ns - from_ns, length_ns = Math.max(1, end_ns - begin_ns);

		if (!this.trace.lanes[lane])
			return;
		this.link.settle();	// where one was is a step to go back to, however short
		this.uncover(lane);
		this.store.set({ focus: lane, slice: { lane, time_ns: begin_ns }, cursor_ns: begin_ns });
		if (begin_ns < from_ns || end_ns > to_ns || length_ns < SEEN_SHARE * width_ns) {
			const wide_ns = length_ns < SEEN_SHARE * width_ns || length_ns > width_ns ? AROUND * length_ns : width_ns;
			this.setView((begin_ns + end_ns - wide_ns) / 2, (begin_ns + end_ns + wide_ns) / 2);
		}
	}

	/** A point in time, where it is not in view. */
	goTo(time_ns: number, lane: number | null): void {
		const { from_ns, to_ns } = this.view, half_ns = (to_ns - from_ns) / 2;

		if (lane !== null)
			this.uncover(lane);
		this.store.set({ cursor_ns: time_ns, focus: lane ?? this.store.state.focus });
		if (time_ns < from_ns || time_ns > to_ns)
			this.setView(time_ns - half_ns, time_ns + half_ns);
	}
}
