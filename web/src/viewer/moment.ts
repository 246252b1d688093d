// SPDX-License-Identifier: GPL-2.0-or-later
// Points in time for people, as exact as the distance between two of them asks for, and what people write.
import type { Range } from "../range";

const UNITS: [string, number][] = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

/** largest_ns: what decides on the unit; step_ns: what can still be told apart. */
export function moment(time_ns: number, step_ns: number, largest_ns = time_ns): string {
	const [unit, ns] = UNITS.find(([, ns]) => Math.abs(largest_ns) >= ns) ?? UNITS[UNITS.length - 1];
	const digits = Math.max(0, Math.ceil(Math.log10(ns / Math.max(1, step_ns)) - 1e-9));

	return `${(time_ns / ns).toFixed(Math.min(digits, 9))}\u00a0${unit}`.replace(/^-/, "\u2212");
}

/** To the ns, in groups of digits. */
export function exactly(time_ns: number): string {
	return moment(Math.round(time_ns), 1).replace(/\.(\d+)/, (_, digits: string) => "." + digits.replace(/(\d{3})(?=\d)/g, "$1\u202f"));
}

/** 1, 2 or 5 times a power of ten, no smaller than least. */
export function stepFor(least: number): number {
	const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));

	return [1, 2, 5, 10].map(n => n * ten).find(step => step >= least) ?? 10 * ten;
}

/** ns of "1.5ms"; unit: what is meant without one. Null: it is no time. */
export function timeOf(text: string, unit: string): number | null {
	const match = /^\s*(\d[\d\s]*(?:\.[\d\s]*)?|\.[\d\s]+)(ns|us|ms|s|)\s*$/.exec(text);

	return match ? Math.round(Number(match[1].replace(/\s/g, "")) * UNITS.find(([name]) => name === (match[2] || unit))![1]) : null;
}

/** ns of "1.2s..1.4s", "1.2..1.4s" and "1.2s to 1.4s"; what is left out is where all begins or ends. Null: it is no stretch of time. */
export function stretchOf(text: string, whole: Range): Range | null {
	const [from, to, ...more] = text.split(/\.\.|\bto\b|[\u2013~]/), unit = /(ns|us|ms|s)\s*$/.exec(to ?? "")?.[1] ?? "s";
	const from_ns = from?.trim() ? timeOf(from, unit) : whole.from_ns, to_ns = to?.trim() ? timeOf(to, unit) : whole.to_ns;

	return to === undefined || more.length || from_ns === null || to_ns === null || to_ns <= from_ns ? null : { from_ns, to_ns };
}
