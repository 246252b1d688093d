// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of the kinds that most tables have.
import { brief, count, duration, share, size, visible } from "./format";
import type { Column } from "./table";

/** What is a column of a table for people, as report.ts has it of a row. */
interface Described<R> {
	name: keyof R;
	title: string;
	unit: "ns" | "bytes" | "share" | "times";
}

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

/** Columns that the report's description has a title for. */
export function described<R>(columns: readonly Described<R>[]): Column<R>[] {
	const shown = { ns: duration, bytes: size, share, times: count };

	return columns.map(({ name, title, unit }) => {
		const value = (row: R) => row[name] as number;

		return { title, unit: unit === "share" ? undefined : unit, value, show: row => shown[unit](value(row)) };
	});
}
