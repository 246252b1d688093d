// SPDX-License-Identifier: GPL-2.0-or-later
// Colours of states, as pixels: those of the style sheet.
import { colourOf, stateNames } from "../states";
import { colour } from "../theme";
import { CPU_OTHER, CPU_TRACED, type Lane, type Trace } from "./trace";

export interface Colours {
	pixel: Uint32Array;		// by share
	stack: number[];		// shares, from the bottom to the top
}

export interface Palette {
	threads: Colours;
	idle: Colours;			// of threads with nothing to do
	cpus: Colours;
	ground: number;
}

const DIMMED = 0.4;			// how much of a colour stays

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

/** Of the style sheet as it is now. */
export function paletteOf(trace: Trace): Palette {
	const ground = bytesOf(colour("bg"));
	const of = trace.shares.map(state => bytesOf(colour(state === "unknown" ? "c-idle" : colourOf(state))));
	const rank = (share: number) => (stateNames.indexOf(trace.shares[share]) + stateNames.length + 1) % (stateNames.length + 1);
	const stack = trace.shares.map((_, share) => share).sort((a, b) => rank(a) - rank(b));
	const cpu = new Uint32Array(32).fill(pixelOf(bytesOf(colour("c-other"))));

	for (const [share, state] of Object.entries(cpuShares()))
		cpu[Number(share)] = pixelOf(bytesOf(colour(colourOf(state))));
	return {
		ground: pixelOf(ground),
		threads: { pixel: Uint32Array.from(of, pixelOf), stack },
		idle: { pixel: Uint32Array.from(of, one => pixelOf(mixed(one, ground, DIMMED))), stack },
		cpus: { pixel: cpu, stack: [CPU_TRACED, CPU_OTHER] },
	};
}

export function coloursOf(palette: Palette, lane: Lane): Colours {
	return lane.kind === "cpu" ? palette.cpus : lane.is_idle && lane.kind !== "host" ? palette.idle : palette.threads;
}
