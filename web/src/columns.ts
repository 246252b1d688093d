// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of the kinds that most tables have.
import { brief, count, duration, visible } from "./format";
import type { Column } from "./table";

const NAME_CHARS = 40, WIDE_NAME_CHARS = 64;

/** A time, in nanoseconds. */
export function ns<R>(title: string, value: (row: R) => number): Column<R> {
	return { title, unit: "ns", value, show: row => duration(value(row)) };
}

/** How often. */
export function times<R>(title: string, value: (row: R) => number): Column<R> {
	return { title, unit: "times", value, show: row => count(value(row)) };
}

/** How many at once. */
export function threads<R>(title: string, value: (row: R) => number): Column<R> {
	return { title, unit: "threads", value, show: row => count(value(row)) };
}

/** What a program may have chosen: in short, and in full under the pointer. */
export function words<R>(title: string, value: (row: R) => string | null, isWide = false): Column<R> {
	const name = (row: R) => visible(value(row) ?? "");

	return { title, value: name, show: row => brief(name(row), isWide ? WIDE_NAME_CHARS : NAME_CHARS), tip: name, isWide };
}
