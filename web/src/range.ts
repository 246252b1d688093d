// SPDX-License-Identifier: GPL-2.0-or-later
// The stretch of time that is examined: charts over time share it, so zooming into one zooms into all.
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

export interface Range {
	from_ns: number;
	to_ns: number;
}

let range: Range | null = null;		// null: all
const listeners = new Set<(range: Range | null) => void>();

export function getRange(): Range | null {
	return range;
}

export function setRange(next: Range | null): void {
	if (next === range || (next && range && next.from_ns === range.from_ns && next.to_ns === range.to_ns))
		return;
	range = next;
	for (const listener of listeners)
		listener(range);
}

/** Returns what ends it. */
export function onRange(listener: (range: Range | null) => void): () => void {
	listeners.add(listener);
	return () => { listeners.delete(listener); };
}

export function laterBy(range: Range, by_ns: number): Range {
	return { from_ns: range.from_ns + by_ns, to_ns: range.to_ns + by_ns };
}

/** What the charts below are of: a report of part of a trace counts its time from the begin of that part. */
export const RangeFrame = createContext<{ begin_ns: number; whole_ns: number | null }>({ begin_ns: 0, whole_ns: null });

/** In the time of the charts; null, too, when it does not meet them or has all of them. */
function framed(range: Range | null, begin_ns: number, whole_ns: number | null): Range | null {
	if (!range)
		return null;
	if (whole_ns === null)
		return begin_ns ? laterBy(range, -begin_ns) : range;
	const from_ns = Math.max(0, range.from_ns - begin_ns), to_ns = Math.min(whole_ns, range.to_ns - begin_ns);

	return to_ns <= from_ns || (from_ns === 0 && to_ns === whole_ns) ? null : { from_ns, to_ns };
}

export function useRange(): Range | null {
	const [shown, show] = useState(range);
	const { begin_ns, whole_ns } = useContext(RangeFrame);

	useEffect(() => {
		show(range);
		return onRange(show);
	}, []);
	return framed(shown, begin_ns, whole_ns);
}

/** Takes it in the time of the charts. */
export function useSetRange(): (next: Range | null) => void {
	const { begin_ns } = useContext(RangeFrame);

	return next => setRange(next && { from_ns: begin_ns + next.from_ns, to_ns: begin_ns + next.to_ns });
}

/** Nearer or farther around its middle, and along; inside of [0, whole_ns). */
export function zoomed(now: Range | null, whole_ns: number, factor: number, shift: number): Range | null {
	const { from_ns, to_ns } = now ?? { from_ns: 0, to_ns: whole_ns };
	const width = Math.min(whole_ns, (to_ns - from_ns) * factor);
	const middle = (from_ns + to_ns) / 2 + shift * (to_ns - from_ns);
	const from = Math.max(0, Math.min(middle - width / 2, whole_ns - width));

	return width >= whole_ns ? null : { from_ns: from, to_ns: from + width };
}
