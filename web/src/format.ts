// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people: as src/base/text.c has them, so that page and text say the same.
import type { ReportFrame } from "./report";

const NARROW = "\u00a0";		// between a number and its unit: they stay on one line

function three(value: number): string {
	return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

export function duration(ns: number): string {
	if (ns < 0)
		return "\u2212" + duration(-ns);
	if (ns < 999.5)
		return `${Math.round(ns)}${NARROW}ns`;
	if (ns < 999.5e3)
		return `${three(ns / 1e3)}${NARROW}us`;
	if (ns < 999.5e6)
		return `${three(ns / 1e6)}${NARROW}ms`;
	if (ns < 59.95e9)
		return `${three(ns / 1e9)}${NARROW}s`;
	const seconds = Math.round(ns / 1e9);
	if (seconds < 3600)
		return `${Math.floor(seconds / 60)}${NARROW}min${NARROW}${seconds % 60}${NARROW}s`;
	return `${Math.floor(seconds / 3600)}${NARROW}h${NARROW}${Math.floor(seconds / 60) % 60}${NARROW}min`;
}

/** A change. */
export function signed(ns: number): string {
	return ns > 0 ? "+" + duration(ns) : duration(ns);
}

export function count(value: number): string {
	return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** To the last digit, for a tooltip. */
export function exactNs(ns: number): string {
	return `${count(ns)} ns`;
}

export function share(part: number): string {
	const percent = 100 * part;

	return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)}${NARROW}%`;
}

export function shareOf(part: number, whole: number): string {
	return whole > 0 ? share(part / whole) : "\u2013";
}

export function size(bytes: number): string {
	const units = ["B", "KB", "MB", "GB", "TB"];
	let unit = 0;

	for (; bytes >= 1024 && unit < units.length - 1; unit++)
		bytes /= 1024;
	return `${unit && bytes < 100 ? bytes.toFixed(1) : bytes.toFixed(0)}${NARROW}${units[unit]}`;
}

export function plural(value: number, one: string, many = one + "s"): string {
	return `${count(value)}${NARROW}${value === 1 ? one : many}`;
}

/** Control characters of a hostile name would be invisible, or turn the line around. */
export function visible(name: string): string {
	return name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
		c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

export function cut(text: string, max: number): string {
	return text.length <= max ? text : text.slice(0, max - 1) + "\u2026";
}

export function frameName(frame: ReportFrame): string {
	return visible(frame.function || (frame.module ? `${frame.module}+0x${frame.offset.toString(16)}` : "code outside any file"));
}

/** A long name without its template arguments, then without its parameters, as the text has it. */
export function brief(name: string, max: number): string {
	let text = name;

	for (let inner = text; text.length > max; text = inner) {
		inner = text.replace(/<[^<>]*[^<>\s][^<>]*>/g, "\u0001");
		if (inner === text)
			break;
	}
	text = text.replace(/\u0001+/g, "<>");
	return text.length > max ? text.replace(/\(.*\)( const)?$/, "()") : text;
}

export function framePlace(frame: ReportFrame): string {
	if (!frame.file)
		return frame.module ? visible(frame.module) : "";
	return visible(frame.file) + (frame.line ? `:${frame.line}` : "");
}
