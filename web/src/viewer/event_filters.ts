// SPDX-License-Identifier: GPL-2.0-or-later
// What the user types into the filters of the list, as the server wants it: alternatives are separated by commas,
// threads and processes are found by name or by number.
import type { Range } from "../range";
import type { Wanted } from "./event_rows";
import { type Filters, filterNames } from "./store";
import type { LaneKind, Trace } from "./trace";

const FOUND_MAX = 300, NONE = "none";

function wordsOf(text: string): string[] {
	return text.split(",").map(word => word.trim()).filter(Boolean);
}

/** Numbers of the threads, or pids of the processes, that a word is part of the name of; the word itself when it is a number of none. */
function numbersOf(trace: Trace, kind: LaneKind, words: string[]): string[] {
	const numbers = new Set<string>();

	for (const word of words) {
		const wanted = word.toLowerCase();
		for (const lane of trace.lanes) {
			const isIt = lane.kind === kind && (lane.name.toLowerCase().includes(wanted) || String(kind === "thread" ? lane.tid : lane.pid) === wanted);
			if (isIt && numbers.size < FOUND_MAX)
				numbers.add(String(kind === "thread" ? lane.thread : lane.pid));
		}
		if (kind === "process" && /^\d+$/.test(word))
			numbers.add(word);
	}
	return numbers.size || !words.length ? [...numbers] : [NONE];
}

export function wantedOf(trace: Trace, filters: Filters, range: Range | null): Wanted {
	const wanted: Wanted = { from: range?.from_ns, to: range?.to_ns };

	for (const name of filterNames) {
		const text = filters[name] ?? "";
		wanted[name] = name === "search" ? text : name === "thread" || name === "process" ? numbersOf(trace, name, wordsOf(text)) : wordsOf(text);
	}
	return wanted;
}
