// SPDX-License-Identifier: GPL-2.0-or-later
// The state as the fragment of the address: a link opens the same picture, and the browser's history is the undo of
// navigation. What changes in one go is one step of it.
import { getRange, type Range, setRange } from "../range";
import { merged, type Note, noteOf, NOTES_MAX, noteText } from "./notes";
import { scriptName } from "./scripts";
import { colourings, commonOf, type Filters, filterNames, initial, listNames, type Overlay, overlays, type State, type Store } from "./store";
import type { Place } from "./trace";

const SETTLED_MS = 250, NUMBERS_MAX = 10000;

function rangeText(range: Range | null): string {
	return range ? `${Math.round(range.from_ns)}~${Math.round(range.to_ns)}` : "";
}

function rangeOf(text: string | null): Range | null {
	const match = /^(-?\d{1,16})~(-?\d{1,16})$/.exec(text ?? "");

	return match && Number(match[2]) > Number(match[1]) ? { from_ns: Number(match[1]), to_ns: Number(match[2]) } : null;
}

function numbersOf(text: string | null): number[] {
	return (text ?? "").split(".").filter(word => /^\d{1,9}$/.test(word)).slice(0, NUMBERS_MAX).map(Number);
}

function numberOf(text: string | null): number | null {
	return /^-?\d{1,16}$/.test(text ?? "") ? Number(text) : null;
}

function widthOf(text: string | null): number | null {
	const width = numberOf(text);

	return width && width > 0 ? width : null;
}

/** Its name alone: to open a link runs nothing that somebody else has written. */
function scriptOf(text: string | null): string {
	return text ? scriptName(text) : "";
}

function placeOf(text: string | null): Place | null {
	const match = /^(\d{1,9})@(-?\d{1,16})$/.exec(text ?? "");

	return match ? { lane: Number(match[1]), time_ns: Number(match[2]) } : null;
}

/** Without how far lanes and the list are scrolled, and without notes, which make no step of the history. */
function wordsOf(state: State): [string, string][] {
	const { slice, filters } = state;

	return [
		["view", rangeText(state.view)], ["follow", state.follow === null ? "" : String(Math.round(state.follow))], ["sel", rangeText(getRange())], ["box", state.boxed.join(".")],
		["open", [...state.toggled].join(".")], ["pin", state.pins.join(".")],
		["sort", state.sort === initial.sort ? "" : state.sort], ["lanes", state.words], ["hide", [...state.hidden].join(".")],
		["colour", state.colouring === initial.colouring ? "" : state.colouring],
		["focus", String(state.focus ?? "")], ["slice", slice ? `${slice.lane}@${Math.round(slice.time_ns)}` : ""],
		["at", state.cursor_ns === null ? "" : String(Math.round(state.cursor_ns))], ["within", state.isOfSelection ? "1" : ""], ["list", state.list === initial.list ? "" : state.list],
		["order", state.longestFirst ? "length" : ""], ["script", state.script],
		...filterNames.map((name): [string, string] => [name, filters[name] ?? ""]),
	];
}

function fragmentOf(words: [string, string][]): string {
	return words.filter(([, text]) => text).map(([name, text]) => `${name}=${encodeURIComponent(text).replace(/%40/g, "@")}`).join("&");
}

export function fragment(state: State): string {
	return fragmentOf([...wordsOf(state), ["top", state.scroll ? String(Math.round(state.scroll)) : ""], ["row", state.row ? String(state.row) : ""],
		...state.notes.map((note): [string, string] => ["note", noteText(note)])]);
}

function notesIn(text: string, name: string): Note[] {
	return new URLSearchParams(text).getAll(name).slice(0, NOTES_MAX).map(noteOf).filter(note => note !== null);
}

function read(text: string): { state: State; selection: Range | null } {
	const search = new URLSearchParams(text), filters: Filters = {};

	for (const name of filterNames)
		if (search.get(name))
			filters[name] = search.get(name)!.slice(0, 500);
	return {
		selection: rangeOf(search.get("sel")),
		state: {
			view: rangeOf(search.get("view")), follow: widthOf(search.get("follow")), toggled: new Set(numbersOf(search.get("open"))), pins: numbersOf(search.get("pin")),
			sort: search.get("sort") === "name" ? "name" : "lost", words: (search.get("lanes") ?? "").slice(0, 500),
			hidden: new Set((search.get("hide") ?? "").split(".").filter((word): word is Overlay => overlays.includes(word as Overlay))),
			colouring: colourings.find(name => name === search.get("colour")) ?? initial.colouring,
			focus: numberOf(search.get("focus")), slice: placeOf(search.get("slice")), cursor_ns: numberOf(search.get("at")),
			scroll: Math.max(0, numberOf(search.get("top")) ?? 0), row: Math.max(0, numberOf(search.get("row")) ?? 0), filters, script: scriptOf(search.get("script")), scriptRun: null, isOfSelection: search.get("within") === "1",
			list: listNames.find(name => name === search.get("list")) ?? initial.list,
			longestFirst: search.get("order") === "length", boxed: numbersOf(search.get("box")), notes: notesIn(text, "note"),
		},
	};
}

/** What a second side has of its own, in the same link: names begin with "b.". */
function ownWordsOf({ toggled, pins, focus, slice, boxed }: State): [string, string][] {
	return [["b.open", [...toggled].join(".")], ["b.pin", pins.join(".")], ["b.focus", String(focus ?? "")], ["b.slice", slice ? `${slice.lane}@${Math.round(slice.time_ns)}` : ""], ["b.box", boxed.join(".")]];
}

/** The same as it was written, with what both sides have in common. */
function readSecond(text: string, first: State, offset_ns: number): State {
	const search = new URLSearchParams(text);

	return { ...initial, ...commonOf(first, offset_ns), toggled: new Set(numbersOf(search.get("b.open"))), pins: numbersOf(search.get("b.pin")), focus: numberOf(search.get("b.focus")),
		slice: placeOf(search.get("b.slice")), boxed: numbersOf(search.get("b.box")), scroll: first.scroll };
}

export class Link {
	private timer = 0;
	private isReading = false;
	private last = "";			// the step of the history at which it stands
	private depth = 0;
	private stops: (() => void)[];

	/** second: of the other side, if two are compared. */
	constructor(private store: Store, private second: Store | null = null) {
		this.read(linked => linked);
		history.replaceState({ depth: 0 }, "", this.address);
		this.stops = [store, ...second ? [second] : []].map(one => one.on(() => this.later()));
		addEventListener("popstate", this.onPop);
	}

	get canUndo(): boolean {
		return this.depth > 0;
	}

	undo(): void {
		this.settle();
		if (this.canUndo)
			history.back();
	}

	redo(): void {
		history.forward();
	}

	end(): void {
		this.stops.forEach(stop => stop());
		removeEventListener("popstate", this.onPop);
	}

	/** Now, rather than when nothing has changed for a while. */
	settle(): void {
		const step = fragmentOf(this.words);

		clearTimeout(this.timer);
		if (step !== this.last)
			history.pushState({ depth: ++this.depth }, "", this.address);
		else
			history.replaceState({ depth: this.depth }, "", this.address);
		this.last = step;
	}

	private get address(): string {
		return location.pathname + location.search + "#" + [fragment(this.store.state), fragmentOf([...this.secondWords, ...(this.second?.state.notes ?? []).map((note): [string, string] => ["b.note", noteText(note)])])].filter(Boolean).join("&");
	}

	private get secondWords(): [string, string][] {
		return this.second ? [["offset", this.second.offset_ns ? String(Math.round(this.second.offset_ns)) : ""], ...ownWordsOf(this.second.state)] : [];
	}

	/** What makes a step of the history. */
	private get words(): [string, string][] {
		return [...wordsOf(this.store.state), ...this.secondWords];
	}

	private later(): void {
		if (this.isReading)
			return;
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.settle(), SETTLED_MS);
	}

	private onPop = (event: PopStateEvent) => {
		clearTimeout(this.timer);
		this.depth = Number(event.state?.depth ?? 0);
		this.read((linked, { state: { notes } }) => event.state ? notes : merged(notes, linked));	// a step back leaves them; another link may have more
	};

	/** notesOf: which a side has, by those of the link. */
	private read(notesOf: (linked: readonly Note[], of: Store) => readonly Note[]): void {
		const { state: linked, selection } = read(location.hash.slice(1)), before = this.store.state;
		const state = { ...linked, scriptRun: linked.script === before.script ? before.scriptRun : null, notes: notesOf(linked.notes, this.store) };

		this.isReading = true;
		setRange(selection);
		if (this.second)
			this.second.offset_ns = numberOf(new URLSearchParams(location.hash.slice(1)).get("offset")) ?? 0;
		this.store.set(state);
		this.second?.set({ ...readSecond(location.hash.slice(1), state, this.second.offset_ns), notes: notesOf(notesIn(location.hash.slice(1), "b.note"), this.second) });
		this.isReading = false;
		this.last = fragmentOf(this.words);
	}
}
