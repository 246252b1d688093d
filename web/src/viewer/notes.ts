// SPDX-License-Identifier: GPL-2.0-or-later
// Notes of the user at a time, or at a time of a lane: in the link, and kept by the browser for the next time that the trace is looked at.
import type { Store } from "./store";
import type { Trace } from "./trace";

export interface Note {
	time_ns: number;
	lane: number | null;
	text: string;
}

export const NOTES_MAX = 100, NOTE_LENGTH_MAX = 200;

export function noteText({ time_ns, lane, text }: Note): string {
	return `${lane ?? ""}@${Math.round(time_ns)}:${text}`;
}

export function noteOf(text: string): Note | null {
	const match = /^(\d{0,9})@(-?\d{1,16}):([^]*)$/.exec(text);

	return match ? { lane: match[1] ? Number(match[1]) : null, time_ns: Number(match[2]), text: match[3].slice(0, NOTE_LENGTH_MAX) } : null;
}

export function isSamePlace(a: Note, b: Note): boolean {
	return a.lane === b.lane && a.time_ns === b.time_ns;
}

/** All of the first, and those of the second that are elsewhere; by time. */
export function merged(first: readonly Note[], second: readonly Note[]): Note[] {
	return [...first, ...second.filter(note => !first.some(one => isSamePlace(one, note)))].sort((a, b) => a.time_ns - b.time_ns).slice(0, NOTES_MAX);
}

function keyOf(trace: Trace): string {
	return `pinch-notes ${trace.name} ${trace.first_ns}`;
}

/** A browser may keep nothing: then there are none. */
function stored(trace: Trace): Note[] {
	try {
		const list: unknown = JSON.parse(localStorage.getItem(keyOf(trace)) ?? "[]");
		return Array.isArray(list) ? list.slice(0, NOTES_MAX).map(text => noteOf(String(text))).filter(note => note !== null) : [];
	} catch {
		return [];
	}
}

function keep(trace: Trace, notes: readonly Note[]): void {
	try {
		if (notes.length)
			localStorage.setItem(keyOf(trace), JSON.stringify(notes.map(noteText)));
		else
			localStorage.removeItem(keyOf(trace));
	} catch {				// they are in the link
	}
}

/** Takes those that the browser has, and gives it all of them from here on. Returns what ends it. */
export function keepNotes(store: Store, trace: Trace): () => void {
	let last = store.state.notes;

	last = merged(last, stored(trace));
	store.set({ notes: last });
	keep(trace, last);
	return store.on(() => {
		if (store.state.notes !== last)
			keep(trace, store.state.notes);
		last = store.state.notes;
	});
}
