// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads the executions of both groups are of, those of one name together: how many, and how long they take.
import { useMemo, useState } from "preact/hooks";
import { count, duration, plural, signed, visible } from "../format";
import { collapsed } from "./pair";
import type { Side } from "./execution_page";

const FIRST = 12;

interface Threads {
	name: string;
	counts: [number, number];
	ns: [number, number];
}

/** Those with most executions come first. */
export function threadsOf(sides: Pick<Side, "session">[]): Threads[] {
	const found = new Map<string, Threads>();

	sides.forEach(({ session }, side) => {
		for (const lane of session.trace.lanes) {
			if (lane.kind !== "thread")
				continue;
			const name = collapsed(lane.name), of = found.get(name) ?? { name, counts: [0, 0], ns: [0, 0] };
			of.counts[side]++;
			of.ns[side] += lane.lost_ns;		// of an execution: its length
			found.set(name, of);
		}
	});
	return [...found.values()].sort((a, b) => b.counts[0] + b.counts[1] - a.counts[0] - a.counts[1] || (a.name < b.name ? -1 : 1));
}

function meanOf({ counts, ns }: Threads, side: number): number | null {
	return counts[side] ? ns[side] / counts[side] : null;
}

const words = (ns: number | null) => ns === null ? "\u2013" : duration(Math.round(ns));

export function ExecutionThreads({ sides }: { sides: Side[] }) {
	const all = useMemo(() => threadsOf(sides), [sides]), [limit, setLimit] = useState(FIRST);

	return <>
		<h3>Threads</h3>
		<p class="muted">Of which threads the executions are, and how long they take on average. Threads whose names differ in numbers only are one row.</p>
		<div class="difference-box" tabIndex={0} role="region" aria-label="Table of threads"><table class="differences">
			<thead><tr><th scope="col">Threads</th><th scope="col" class="number">Executions of A</th><th scope="col" class="number">of B</th><th scope="col" class="number">Mean of A</th><th scope="col" class="number">of B</th><th scope="col" class="number">B &minus; A</th></tr></thead>
			<tbody>{all.slice(0, limit).map(of => {
				const [a, b] = [meanOf(of, 0), meanOf(of, 1)];
				return <tr key={of.name} data-threads={of.name}>
					<td>{visible(of.name)}</td>{of.counts.map((n, side) => <td class="number" key={side}>{count(n)}</td>)}
					<td class="number">{words(a)}</td><td class="number">{words(b)}</td><td class="number">{a === null || b === null ? "\u2013" : signed(Math.round(b - a))}</td>
				</tr>;
			})}</tbody>
		</table></div>
		{all.length > limit && <button type="button" onClick={() => setLimit(all.length)}>{plural(all.length - limit, "more name")}</button>}
	</>;
}
