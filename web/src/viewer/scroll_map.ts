// SPDX-License-Identifier: GPL-2.0-or-later
// A list of any length behind a scroll bar: browsers cannot scroll more than some tens of millions of pixels.

const PX_MAX = 8e6;

export interface ScrollMap {
	rows: number;
	row_px: number;
	seen: number;			// rows that fit into the box, not always a whole number
}

/** Pixels that can be scrolled. */
export function scrollable({ rows, row_px, seen }: ScrollMap): number {
	return Math.max(0, Math.min(PX_MAX, (rows - seen) * row_px));
}

export function lastTop({ rows, seen }: ScrollMap): number {
	return Math.max(0, rows - seen);
}

/** The first row in view, with its hidden part. */
export function topOf(map: ScrollMap, scroll_px: number): number {
	const px = scrollable(map);

	return px ? Math.min(1, scroll_px / px) * lastTop(map) : 0;
}

export function scrollOf(map: ScrollMap, top: number): number {
	const last = lastTop(map);

	return last ? top / last * scrollable(map) : 0;
}
