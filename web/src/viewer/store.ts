// SPDX-License-Identifier: GPL-2.0-or-later
// What the user looks at: all of it is in the link. The selected time is in range.ts, for all charts share it.
import { useEffect, useState } from "preact/hooks";
import { getRange, laterBy, onRange, type Range, setRange } from "../range";
import { type CurveName, curveNames } from "./curves";
import type { Note } from "./notes";
import type { ScriptRun } from "./scripts";
import type { Place } from "./trace";

export type Sort = "lost" | "name";
export const colourings = ["state", "application", "weight"] as const;
export type Colouring = (typeof colourings)[number];	// what colours of lanes say
export type Overlay = "marks" | "wakes" | "activities" | "messages" | CurveName;

export const overlays: readonly Overlay[] = ["marks", "wakes", "activities", "messages", ...curveNames];
export const filterNames = ["host", "cpu", "process", "thread", "subsystem", "event", "search", "cause", "object", "span", "longer"] as const;
export const listNames = ["events", "activities", "waits", "spans", "samples"] as const;
export type ListName = (typeof listNames)[number];
export type FilterName = (typeof filterNames)[number];
export type Filters = Partial<Record<FilterName, string>>;

export interface State {
	view: Range | null;		// what of the time is drawn; null: all
	follow: number | null;		// so many ns up to the end are drawn, wherever that is; null: view says what
	toggled: ReadonlySet<number>;	// lanes that are not open or closed as they are at first
	pins: readonly number[];
	sort: Sort;
	words: string;			// lanes with these are shown
	hidden: ReadonlySet<Overlay>;
	colouring: Colouring;
	focus: number | null;		// the lane that keys go to
	slice: Place | null;		// what the details are of
	cursor_ns: number | null;
	scroll: number;			// how many px of the lanes are above those that are seen
	list: ListName;
	row: number;			// the first one in the list
	longestFirst: boolean;		// rows that last are by their lengths
	boxed: readonly number[];	// the lanes that are selected; none: all
	notes: readonly Note[];
	filters: Filters;
	script: string;			// the name of the one in use; empty: none
	scriptRun: ScriptRun | null;	// what the server says of it; not in the link
	isOfSelection: boolean;		// the list has the events of the selected time only
}

export const initial: State = {
	view: null, follow: null, toggled: new Set(), pins: [], sort: "lost", words: "", hidden: new Set(), colouring: "state", focus: null, slice: null, cursor_ns: null,
	scroll: 0, list: "events", row: 0, longestFirst: false, boxed: [], notes: [], filters: {}, script: "", scriptRun: null, isOfSelection: false,
};

/** What two sides that are compared have in common; the other one's times are later by by_ns. */
export function commonOf({ view, cursor_ns, sort, words, hidden, colouring, list, longestFirst, filters, isOfSelection }: State, by_ns: number) {
	return { view: view && laterBy(view, by_ns), cursor_ns: cursor_ns === null ? null : cursor_ns + by_ns, sort, words, hidden, colouring, list, longestFirst, filters, isOfSelection };
}

export class Store {
	state: State = initial;
	offset_ns = 0;			// its times are so much later than those of the range that all charts share
	private listeners = new Set<() => void>();

	constructor() {
		onRange(() => this.tell());
	}

	get selection(): Range | null {
		const range = getRange();

		return range && laterBy(range, this.offset_ns);
	}

	set selection(range: Range | null) {
		setRange(range && laterBy(range, -this.offset_ns));
	}

	set(part: Partial<State>): void {
		this.state = { ...this.state, ...part };
		this.tell();
	}

	/** Returns what ends it. */
	on(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => { this.listeners.delete(listener); };
	}

	private tell(): void {
		for (const listener of this.listeners)
			listener();
	}
}

/** Draws again when this part of the state is another one. */
export function useStored<T>(store: Store, choose: (state: State) => T): T {
	const [value, setValue] = useState<{ of: T }>({ of: choose(store.state) });

	useEffect(() => {
		const update = () => setValue(old => Object.is(old.of, choose(store.state)) ? old : { of: choose(store.state) });

		update();
		return store.on(update);
	}, [store]);
	return value.of;
}

/** With the element, or without it if it was there. */
export function flipped<T>(set: ReadonlySet<T>, element: T): Set<T> {
	const next = new Set(set);

	if (!next.delete(element))
		next.add(element);
	return next;
}
