// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads and states are looked at: by the filters of hosts, processes, threads and causes, which belong to the session. The graph,
// the lists, the report and what is saved follow those of threads; graph, sums and lists that of causes. Words are alternatives, separated by commas: a part of a name, or a number; !word leaves out.
import { stateTitle } from "../states";
import type { Filters } from "./store";
import type { Lane, Trace } from "./trace";

export const whoseNames = ["host", "process", "thread"] as const;

export function wordsOf(text: string | undefined): string[] {
	return (text ?? "").split(",").map(word => word.trim()).filter(Boolean);
}

/** Words that begin with ! name what is left out. */
export function hasExclusion(filters: Filters): boolean {
	return whoseNames.some(name => wordsOf(filters[name]).some(word => word.startsWith("!")));
}

function is(words: string[], name: string, id: number): boolean {
	const names = (word: string) => /^\d+$/.test(word) ? Number(word) === id : name.toLowerCase().includes(word.toLowerCase());
	const without = words.filter(word => word.startsWith("!")).map(word => word.slice(1).trim()).filter(Boolean), only = words.filter(word => !word.startsWith("!"));

	return (!only.length || only.some(names)) && !without.some(names);
}

function hostOf(trace: Trace, lane: Lane): string | null {
	let at: Lane | undefined = lane;

	while (at && at.kind !== "host")
		at = trace.lanes[at.parent];
	return at ? at.name : null;
}

/** Of the filter of causes, as bits of the numbers of states: whole names or titles, or else parts of them; null: there is no such filter. */
export function chosenShares(trace: Trace, filters: Filters): number | null {
	const words = wordsOf(filters.cause).map(word => word.toLowerCase()), names = trace.shares.map(name => [name, stateTitle(name).toLowerCase()]);
	const sharesOf = (word: string) => {
		const exact = names.flatMap((own, share) => own.includes(word) ? share : []);
		return exact.length ? exact : names.flatMap((own, share) => own.some(name => name.includes(word)) ? share : []);
	};

	return words.length ? words.flatMap(sharesOf).reduce((bits, share) => bits | 1 << share, 0) : null;
}

/** Of the same filter, the causes of waits as reports have them: running code is none. Empty: there is none, or no filter. */
export function chosenCauses(trace: Trace, filters: Filters): string[] {
	const bits = chosenShares(trace, filters) ?? 0;

	return trace.shares.filter((_, share) => bits >>> share & 1).map(name => name === "runnable" ? "cpu-wait" : name)
		.filter(name => !["unknown", "running", "spinning"].includes(name));
}

/** Numbers of threads with a lane that the filters choose; null: there is no such filter. */
export function chosenThreads(trace: Trace, filters: Filters): Set<number> | null {
	const [hosts, processes, threads] = whoseNames.map(name => wordsOf(filters[name]));
	const names = new Map(trace.lanes.filter(lane => lane.kind === "process").map(lane => [lane.pid, lane.name]));
	const isOfHost = (lane: Lane) => {
		const host = hosts.length ? hostOf(trace, lane) : null;
		return host === null || is(hosts, host, -1);
	};

	if (!hosts.length && !processes.length && !threads.length)
		return null;
	return new Set(trace.lanes.filter(lane => lane.kind === "thread" && is(threads, lane.name, lane.tid) && is(processes, names.get(lane.pid) ?? lane.name, lane.pid) && isOfHost(lane))
		.map(lane => lane.thread));
}
