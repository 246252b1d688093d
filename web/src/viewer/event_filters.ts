// SPDX-License-Identifier: GPL-2.0-or-later
// What the user types into the filters of the list, as the server wants it: alternatives are separated by commas,
// threads and processes are found by part of their name, or by number.
import type { Range } from "../range";
import type { Wanted } from "./event_rows";
import { type Filters, filterNames } from "./store";
import type { LaneKind, Trace } from "./trace";

const WORDS_MAX = 64;		// of each kind, for the server

function wordsOf(text: string): string[] {
	return text.split(",").map(word => word.trim()).filter(Boolean);
}

/** The thread's number in the trace, where a thread id is that of a lane: in a container it is not the one that the server knows. */
function numbersOf(trace: Trace, kind: LaneKind, word: string): string[] {
	const found = kind === "thread" ? trace.lanes.filter(lane => lane.kind === kind && String(lane.tid) === word) : [];

	return found.length ? found.map(lane => String(lane.thread)) : [word];
}

/** The names that a word is part of, or a number; what no lane is called the server may know. */
function namesOf(trace: Trace, kind: LaneKind, words: string[]): string[] {
	const names = new Set<string>();

	for (const word of words) {
		const found = trace.lanes.filter(lane => lane.kind === kind && lane.name.toLowerCase().includes(word.toLowerCase()));
		for (const name of /^\d+$/.test(word) ? numbersOf(trace, kind, word) : found.length ? found.map(lane => lane.name) : [word])
			if (names.size < WORDS_MAX)
				names.add(name);
	}
	return [...names];
}

export function wantedOf(trace: Trace, filters: Filters, range: Range | null): Wanted {
	const wanted: Wanted = { from: range?.from_ns, to: range?.to_ns };

	for (const name of filterNames) {
		const text = filters[name] ?? "";
		wanted[name] = name === "search" ? text : name === "thread" || name === "process" ? namesOf(trace, name, wordsOf(text)) : wordsOf(text);
	}
	return wanted;
}
