// SPDX-License-Identifier: GPL-2.0-or-later
// Colours of states, as pixels: those of the style sheet.
import { colourOf, stateNames } from "../states";
import { colour } from "../theme";
import { APPLICATION_COLOURS } from "./applications";
import type { Colouring } from "./store";
import { CPU_OTHER, CPU_TRACED, type Lane, type Trace } from "./trace";

export interface Colours {
	pixel: Uint32Array;		// by share
	stack: number[];		// shares, from the bottom to the top
	hatched: number;		// shares that are hatched, as bits
	across: { shares: number; pixel: Uint32Array } | null;	// these shares, as bits, have another colour at each place of the line
}

export interface Palette {
	threads: Colours;
	idle: Colours;			// of threads with nothing to do
	cpus: Colours;
	ghost: Colours;			// of threads, where the colours of states are not what is looked at
	cpuGhost: Colours;		// the same of CPUs
	applications: Colours[];	// the same, and active in the colour of an application
	weights: number[];		// from alone to many
	activeShares: number;		// of threads, as bits
	ground: number;
	hatching: number;		// the pixels of hatches
}

const DIMMED = 0.4, GHOST = 0.22;	// how much of a colour stays

/** Up to how many active threads each colour is for, and the states that are active. */
export const WEIGHTS = [1, 2, 4, 8, Infinity], ACTIVE = ["running", "spinning", "runnable"];

function bytesOf(hex: string): [number, number, number] {
	const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex);

	return match ? [parseInt(match[1], 16), parseInt(match[2], 16), parseInt(match[3], 16)] : [136, 136, 136];
}

/** As an ImageData has it, in the order of bytes of all machines that browsers run on. */
function pixelOf([red, green, blue]: [number, number, number]): number {
	return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

function mixed(of: [number, number, number], ground: [number, number, number], part: number): [number, number, number] {
	const mix = (i: number) => Math.round(of[i] * part + ground[i] * (1 - part));

	return [mix(0), mix(1), mix(2)];
}

export function cpuShares(): Record<number, string> {
	return { [CPU_TRACED]: "running", [CPU_OTHER]: "other" };
}

/** The state that a share of this lane is. */
export function stateOf(trace: Trace, lane: Lane, share: number): string {
	return (lane.kind === "cpu" ? cpuShares()[share] : trace.shares[share]) ?? "unknown";
}

/** CPUs have the shares from here on for the applications that had them. */
export const CPU_APPLICATION = 8;

/** Of the style sheet as it is now. chosen: states that are looked at, as bits; null: all. */
export function paletteOf(trace: Trace, chosen: number | null): Palette {
	const ground = bytesOf(colour("bg"));
	const of = trace.shares.map(state => bytesOf(colour(state === "unknown" ? "c-idle" : colourOf(state))));
	const rank = (share: number) => (stateNames.indexOf(trace.shares[share]) + stateNames.length + 1) % (stateNames.length + 1);
	const stack = trace.shares.map((_, share) => share).sort((a, b) => rank(a) - rank(b));
	const isChosen = (share: number) => chosen === null || (chosen >>> share & 1) === 1;
	const faded = (part: number) => Uint32Array.from(of.map((one, share) => pixelOf(mixed(one, ground, isChosen(share) ? part : Math.min(part, GHOST)))));
	const own = Array.from({ length: APPLICATION_COLOURS }, (_, i) => pixelOf(bytesOf(colour(`k-${i}`))));
	const hatched = trace.shares.includes("unknown") ? 1 << trace.shares.indexOf("unknown") : 0;
	const active = ["running", "spinning"].map(state => trace.shares.indexOf(state)).filter(share => share >= 0);
	const cpu = new Uint32Array(32).fill(pixelOf(bytesOf(colour("c-other"))));

	for (const [share, state] of Object.entries(cpuShares()))
		cpu[Number(share)] = pixelOf(bytesOf(colour(colourOf(state))));
	cpu.set(own, CPU_APPLICATION);
	const pale = cpu.map(pixel => pixelOf(mixed([pixel & 255, pixel >>> 8 & 255, pixel >>> 16 & 255], ground, GHOST)));
	const cpuStack = [CPU_TRACED, ...own.map((_, i) => CPU_APPLICATION + i), CPU_OTHER];
	return {
		ground: pixelOf(ground),
		hatching: pixelOf(bytesOf(colour("muted"))),
		threads: { pixel: faded(1), stack, hatched, across: null },
		idle: { pixel: faded(DIMMED), stack, hatched, across: null },
		cpus: { pixel: cpu, stack: cpuStack, hatched: 0, across: null },
		cpuGhost: { pixel: pale, stack: cpuStack, hatched: 0, across: null },
		ghost: { pixel: faded(GHOST), stack, hatched, across: null },
		applications: own.map(pixel => ({ pixel: faded(GHOST).map((old, share) => active.includes(share) ? pixel : old), stack, hatched, across: null })),
		weights: Array.from({ length: WEIGHTS.length }, (_, i) => pixelOf(bytesOf(colour(`w-${i}`)))),
		activeShares: ACTIVE.reduce((bits, state) => trace.shares.includes(state) ? bits | 1 << trace.shares.indexOf(state) : bits, 0),
	};
}

/** The colours of a line of threads or of a CPU, by what colours say; weights: by the place in the line. */
export function coloursOf(palette: Palette, lane: Lane, colouring: Colouring, application: number | null, weights: Uint32Array | null): Colours {
	const isCpu = lane.kind === "cpu";

	if (colouring === "weight" && weights)
		return { ...isCpu ? palette.cpus : palette.ghost, across: { shares: isCpu ? 1 << CPU_TRACED : palette.activeShares, pixel: weights } };
	if (colouring === "application" && application !== null)
		return palette.applications[application];
	return isCpu ? palette.cpus : lane.is_idle && lane.kind !== "host" ? palette.idle : palette.threads;
}

/** The colour of each place, by how many threads are active there, on average: each of n has a weight of 1/n (CMetric). */
export function weightsOf(palette: Palette, active_ns: Float64Array, ns_per_px: number): Uint32Array {
	return Uint32Array.from(active_ns, ns => palette.weights[WEIGHTS.findIndex(most => ns / ns_per_px <= most + 1e-9)]);
}
