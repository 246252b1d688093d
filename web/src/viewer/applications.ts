// SPDX-License-Identifier: GPL-2.0-or-later
// Applications, which are processes of one name, and their colours: those that run longest have one of their own.
import type { LaneTree } from "./lanes";
import type { Lane } from "./trace";

export const APPLICATION_COLOURS = 8;

export class Applications {
	/** By number of the colour; the last one is that of all others, if there are more. */
	readonly names: string[];
	readonly others: number;			// how many share the last colour
	private colours = new Map<string, number>();

	constructor(private tree: LaneTree) {
		const ns = new Map<string, number>(), { lanes, shares } = tree.trace, running = shares.indexOf("running");

		for (const lane of lanes)
			if (lane.kind === "process")
				ns.set(lane.name, (ns.get(lane.name) ?? 0) + (lane.ns[running] ?? 0));
		this.names = [...ns].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
		this.names.forEach((name, i) => this.colours.set(name, Math.min(i, APPLICATION_COLOURS - 1)));
		this.others = Math.max(0, this.names.length - APPLICATION_COLOURS);
	}

	/** The colour of what is in one process; null: it is of several. */
	of(lane: Lane): number | null {
		const process = this.tree.pathTo(lane.id).find(one => one.kind === "process");

		return process ? this.colours.get(process.name) ?? null : null;
	}

	ofThread(thread: number): number | null {
		const lane = this.tree.laneOfThread.get(thread);

		return lane === undefined ? null : this.of(this.tree.trace.lanes[lane]);
	}
}
