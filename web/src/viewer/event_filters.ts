// SPDX-License-Identifier: GPL-2.0-or-later
// What the user types into the filters of the list, as the server wants it: alternatives are separated by commas,
// threads and processes are found by part of their name, or by number.
import type { Range } from "../range";
import { chosenShares, chosenThreads, hasExclusion, wordsOf } from "./chosen";
import type { Wanted } from "./event_rows";
import { timeOf } from "./moment";
import { partsOf, spansOf } from "./part_query";
import { filtersOf, type RowKind } from "./row_kinds";
import type { FilterName, Filters } from "./store";
import type { LaneKind, Trace } from "./trace";

const WORDS_MAX = 64;		// of each kind, for the server
const NO_THREAD = "4294967295";
const eventFilters: readonly FilterName[] = ["host", "cpu", "process", "thread", "subsystem", "event", "search"];

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

/** ns of "1.5ms"; without a unit it is ms. */
export function lengthOf(text: string): number | null {
	return timeOf(text.replace(/^\s*>/, ""), "ms");
}

/** Numbers of the threads that both filters choose; null: all. None: one that there is not. */
function threadsOf(trace: Trace, filters: Filters): string[] | null {
	const found = chosenThreads(trace, filters);

	return found && (found.size ? [...found].map(String) : [NO_THREAD]);
}

/** Names of the states that the filter chooses; null: all. None: what is no wait. */
function causesOf(trace: Trace, filters: Filters): string[] | null {
	const bits = chosenShares(trace, filters);

	return bits === null ? null : bits ? trace.shares.filter((_, share) => bits >>> share & 1) : ["running"];
}

/** threads: numbers of those that are selected, unless the filter names some; none: all. */
export function wantedOf(kind: RowKind, trace: Trace, filters: Filters, range: Range | null, threads: readonly number[]): Wanted {
	const wanted: Wanted = { from: range?.from_ns, to: range?.to_ns }, selected = threads.length ? threads.map(String) : null;
	const own = new Set<string>(filtersOf(kind));

	if (kind.path !== "events")
		return { ...wanted, thread: threadsOf(trace, filters) ?? selected,
			search: own.has("search") ? filters.search : null, cause: own.has("cause") ? causesOf(trace, filters) : null, ...kind.name === "waits" || kind.name === "activities" ? partsOf(filters) : {}, least: lengthOf(filters.longer ?? "") };
	for (const name of eventFilters) {
		const text = filters[name] ?? "";
		wanted[name] = name === "search" ? text : name === "thread" || name === "process" ? namesOf(trace, name, wordsOf(text)) : wordsOf(text);
	}
	if (hasExclusion(filters))
		Object.assign(wanted, { host: [], process: [], thread: threadsOf(trace, filters) });
	Object.assign(wanted, spansOf(filters.span));
	if (kind.event)
		wanted.event = [kind.event];
	if (selected && !filters.thread)
		wanted.thread = selected;
	return wanted;
}
