// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads are looked at: by the filters of hosts, processes and threads, which belong to the session. The graph, the lists, the
// report and what is saved follow them. Words are alternatives, separated by commas: a part of a name, or a number.
import type { Filters } from "./store";
import type { Lane, Trace } from "./trace";

export const whoseNames = ["host", "process", "thread"] as const;

export function wordsOf(text: string | undefined): string[] {
	return (text ?? "").split(",").map(word => word.trim()).filter(Boolean);
}

function is(words: string[], name: string, id: number): boolean {
	return !words.length || words.some(word => /^\d+$/.test(word) ? Number(word) === id : name.toLowerCase().includes(word.toLowerCase()));
}

function hostOf(trace: Trace, lane: Lane): string | null {
	let at: Lane | undefined = lane;

	while (at && at.kind !== "host")
		at = trace.lanes[at.parent];
	return at ? at.name : null;
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
