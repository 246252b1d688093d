// SPDX-License-Identifier: GPL-2.0-or-later
// The stretch of time that is examined: charts over time share it, so zooming into one zooms into all.
import { useEffect, useState } from "preact/hooks";

export interface Range {
	from_ns: number;
	to_ns: number;
}

let range: Range | null = null;		// null: all
const listeners = new Set<(range: Range | null) => void>();

export function setRange(next: Range | null): void {
	range = next;
	for (const listener of listeners)
		listener(range);
}

export function useRange(): Range | null {
	const [shown, show] = useState(range);

	useEffect(() => {
		listeners.add(show);
		show(range);
		return () => { listeners.delete(show); };
	}, []);
	return shown;
}

/** Nearer or farther around its middle, and along; inside of [0, whole_ns). */
export function zoomed(now: Range | null, whole_ns: number, factor: number, shift: number): Range | null {
	const { from_ns, to_ns } = now ?? { from_ns: 0, to_ns: whole_ns };
	const width = Math.min(whole_ns, (to_ns - from_ns) * factor);
	const middle = (from_ns + to_ns) / 2 + shift * (to_ns - from_ns);
	const from = Math.max(0, Math.min(middle - width / 2, whole_ns - width));

	return width >= whole_ns ? null : { from_ns: from, to_ns: from + width };
}
