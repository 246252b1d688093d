// SPDX-License-Identifier: GPL-2.0-or-later
// Curves on top of the lanes: how many threads are in some states, by the tiles of all threads.
import type { Filters } from "./store";
import type { Trace } from "./trace";

export interface Curve {
	name: CurveName;
	title: string;
	about: string;
	shares: number[];		// what is added up
	colour: string;
	top: number;			// in px of the style sheet, below the axis
	height: number;
}

export const curveNames = ["running", "run-queue", "disk", "network"] as const;
export type CurveName = (typeof curveNames)[number];

const HIGH_PX = 46, LOW_PX = 30;

const made: { name: CurveName; title: string; about: string; states: string[]; colour: string }[] = [
	{ name: "running", title: "running", about: "How many threads ran", states: ["running"], colour: "c-running" },
	{ name: "run-queue", title: "run queue", about: "How many threads waited for a CPU", states: ["runnable", "throttled"], colour: "c-runnable" },
	{ name: "disk", title: "disk", about: "How many threads waited for files and pages", states: ["file", "page-fault"], colour: "c-file" },
	{ name: "network", title: "network", about: "How many threads waited for sockets", states: ["socket"], colour: "c-socket" },
];

/** Those that the trace has something for; how many threads ran is always there. */
export function curvesOf(trace: Trace): Curve[] {
	const has = (share: number) => trace.lanes.some(lane => lane.ns[share] > 0);

	return trace.isOfExecutions ? [] : made.map(({ states, ...curve }) => ({ ...curve, shares: states.map(state => trace.shares.indexOf(state)).filter(share => share >= 0), top: 0,
		height: curve.name === "running" ? HIGH_PX : LOW_PX })).filter(({ name, shares }) => name === "running" || shares.some(has));
}

/** Why filters choose nothing of a curve that is seen. */
export function noneWords(curve: Curve, filters: Filters): string {
	const isNoObject = filters.object?.trim() && (curve.name === "running" || curve.name === "run-queue");

	return !isNoObject ? "none chosen" : curve.name === "running" ? "none chosen: who runs waits for nothing" : "none chosen: a wait for a CPU is for no lock, file or peer";
}

/** One below the other. */
export function stacked(curves: Curve[]): Curve[] {
	let top = 0;

	return curves.map(curve => {
		top += curve.height;
		return { ...curve, top: top - curve.height };
	});
}
