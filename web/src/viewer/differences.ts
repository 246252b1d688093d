// SPDX-License-Identifier: GPL-2.0-or-later
// How long threads of the same name spent in each state on two sides, in the selected time of both.
import type { Range } from "../range";
import type { Pair } from "./pair";
import type { Session } from "./session";
import { partsOf } from "./part_query";
import { stretchOfLanes } from "./stretches";

export interface Difference {
	name: string;			// of the threads, without their numbers
	state: string;
	threads: [number, number];	// of this name on each side
	ns: [number, number];
	change_ns: number;		// of the second side, against the first
}

interface Sums {
	threads: number;
	ns: Map<string, number>;	// by state
}

/** What is selected of a side, or all of it. */
export function rangeOfSide(session: Session): Range {
	return session.store.selection ?? session.own;
}

/** The sums of the threads that are looked at, by their names. */
async function sumsOf(session: Session, names: string[], signal: AbortSignal): Promise<Map<string, Sums>> {
	const { lanes, shares } = session.trace, { filteredThreads: threads } = session, words = session.store.state.words.toLowerCase().split(/\s+/).filter(Boolean);
	const wanted = lanes.filter(lane => lane.kind === "thread" && (!threads || threads.has(lane.thread)) && words.every(word => names[lane.id].toLowerCase().includes(word)));
	const stretch = await stretchOfLanes(session.server, rangeOfSide(session), wanted.map(lane => lane.id), partsOf(session.store.state.filters), signal), all = new Map<string, Sums>();

	for (const { lane, ns } of stretch.lanes) {
		const sums = all.get(names[lane]) ?? { threads: 0, ns: new Map<string, number>() };
		sums.threads++;
		ns.forEach((one, share) => one && sums.ns.set(shares[share], (sums.ns.get(shares[share]) ?? 0) + one));
		all.set(names[lane], sums);
	}
	return all;
}

/** The largest first. */
export async function differencesOf(pair: Pair, signal: AbortSignal): Promise<Difference[]> {
	const { names } = pair.named, sides = await Promise.all([sumsOf(pair.first, names[0], signal), sumsOf(pair.second, names[1], signal)]), all: Difference[] = [];

	for (const name of new Set(sides.flatMap(side => [...side.keys()]))) {
		const [a, b] = sides.map(side => side.get(name));
		for (const state of new Set([...a?.ns.keys() ?? [], ...b?.ns.keys() ?? []])) {
			const ns: [number, number] = [a?.ns.get(state) ?? 0, b?.ns.get(state) ?? 0];
			all.push({ name, state, threads: [a?.threads ?? 0, b?.threads ?? 0], ns, change_ns: ns[1] - ns[0] });
		}
	}
	return all.sort((a, b) => Math.abs(b.change_ns) - Math.abs(a.change_ns) || a.name.localeCompare(b.name));
}
