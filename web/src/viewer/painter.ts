// SPDX-License-Identifier: GPL-2.0-or-later
// Lanes as pixels. A pixel has each state with its part of the height: what lies in it is added up, so that nothing
// wins over anything.
import type { Range } from "../range";
import type { Colours } from "./palette";
import { COLUMNS, type Columns, type Slices } from "./tile";
import type { Piece } from "./tiles";

const SHARES = 32, HATCH_PX = 8, WIDE_PX = 16;	// so many pixels are set faster at once

/** Another share for a slice, by who it says. */
export type ShareOf = (share: number, who: number) => number;

/** The ns of each share in each pixel of a line. */
export class Line {
	readonly ns: Float64Array;
	used = 0;				// bits of the shares that there are
	private per_ns = 1;
	private from_ns = 0;

	constructor(readonly width: number) {
		this.ns = new Float64Array(width * SHARES);
	}

	/** Pieces over a range of time that the line is as wide as. */
	fill(pieces: Piece[], range: Range, shareOf: ShareOf | null = null): void {
		for (let share = 0; share < SHARES; share++)
			if (this.used >>> share & 1)
				this.ns.fill(0, share * this.width, (share + 1) * this.width);
		this.used = 0;
		this.from_ns = range.from_ns;
		this.per_ns = this.width / (range.to_ns - range.from_ns);
		for (const piece of pieces) {
			if (piece.tile.kind === "slices")
				this.addSlices(piece, piece.tile, shareOf);
			else if (piece.tile.kind === "columns")
				this.addColumns(piece, piece.tile);
		}
	}

	/** Takes what another line has out of this one; the other one keeps at most what this one had. */
	takeOut(part: Line): void {
		for (let share = 0; share < SHARES; share++) {
			if (!(part.used >>> share & 1))
				continue;
			for (let at = share * this.width, end = at + this.width; at < end; at++) {
				part.ns[at] = Math.min(part.ns[at], this.ns[at]);
				this.ns[at] -= part.ns[at];
			}
		}
	}

	/** Of a share, in the order of pixels. */
	of(share: number): Float64Array {
		return this.ns.subarray(share * this.width, (share + 1) * this.width);
	}

	/** Of all shares. */
	sums(): Float64Array {
		const sums = new Float64Array(this.width);

		for (let share = 0; share < SHARES; share++)
			if (this.used >>> share & 1)
				this.of(share).forEach((ns, x) => { sums[x] += ns; });
		return sums;
	}

	/** The most that a pixel has, of all shares. */
	most(): number {
		return this.sums().reduce((most, sum) => Math.max(most, sum), 0) || 1;
	}

	/** threads: how many do it, or the mean of it. */
	private add(from_ns: number, to_ns: number, share: number, threads: number): void {
		const { width, per_ns, ns } = this;
		const left = Math.max(0, (from_ns - this.from_ns) * per_ns), right = Math.min(width, (to_ns - this.from_ns) * per_ns);
		const first = Math.floor(left), last = Math.floor(right), at = share * width, per_px = threads / per_ns;

		if (right <= left)
			return;
		this.used |= 1 << share;
		if (first === last) {
			ns[at + first] += (right - left) * per_px;
			return;
		}
		ns[at + first] += (first + 1 - left) * per_px;
		for (let x = first + 1; x < last; x++)
			ns[at + x] += per_px;
		if (last < width)
			ns[at + last] += (right - last) * per_px;
	}

	private addSlices(piece: Piece, tile: Slices, shareOf: ShareOf | null): void {
		const { begin_ns, from_ns, to_ns } = piece;

		for (let i = sliceAt(tile, from_ns - begin_ns); i < tile.count && begin_ns + tile.begin_ns[i] < to_ns; i++)
			this.add(Math.max(from_ns, begin_ns + tile.begin_ns[i]), Math.min(to_ns, begin_ns + tile.end_ns[i]), shareOf ? shareOf(tile.share[i], tile.who[i]) : tile.share[i], 1);
	}

	private addColumns(piece: Piece, tile: Columns): void {
		const { begin_ns, from_ns, to_ns } = piece, column_ns = 2 ** piece.shift;

		for (let i = 0; i < tile.count; i++) {
			const from = Math.max(from_ns, begin_ns + tile.first[i] * column_ns);
			const to = Math.min(to_ns, begin_ns + (tile.first[i + 1] ?? COLUMNS) * column_ns);
			if (from >= to)
				continue;
			for (let k = tile.item[i]; k < tile.item[i + 1]; k++)
				this.add(from, to, tile.share[k], tile.ns[k] / column_ns);
		}
	}
}

/** The first slice that ends behind a time, which counts from the begin of the tile. */
export function sliceAt(tile: Slices, time_ns: number): number {
	let low = 0, high = tile.count;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (tile.end_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** What is drawn in one line: of each state the first layer is below the next one. All are as wide and have the same order of states. */
export interface Layer {
	line: Line;
	colours: Colours;
}

let under = new Float64Array(0), edges = new Int32Array(0);	// of each pixel: what is drawn already, and how high that is

/** Where records of a CPU were lost, what nothing is known of is hatched; pieces: what is known at all. */
export function hatchUnknown(line: Line, pieces: Piece[], range: Range, pixels: Uint32Array, top: number, height: number, pixel: number): void {
	const { width } = line, per_ns = width / (range.to_ns - range.from_ns), rows = Math.floor(pixels.length / width), sums = line.sums();

	for (const { from_ns, to_ns } of pieces) {
		const left = Math.max(0, Math.round((from_ns - range.from_ns) * per_ns)), right = Math.min(width, Math.round((to_ns - range.from_ns) * per_ns));
		for (let x = left; x < right; x++) {
			const unknown = Math.round(height * (1 - sums[x] * per_ns));
			for (let y = Math.max(0, top); y < Math.min(rows, top + unknown); y++)
				if ((x + y) % HATCH_PX === 0)
					pixels[y * width + x] = pixel;
		}
	}
}

/**
 * Draws a line into pixels of its width, from top on. All of the height is whole_ns; what is missing, for nothing is known of it or the
 * thread did not live, stays as it is.
 */
export function paint(layers: readonly Layer[], pixels: Uint32Array, top: number, height: number, whole_ns: number, hatching: number): void {
	const { width } = layers[0].line, rows = Math.floor(pixels.length / width);
	const bottom = top + height, lowest = Math.max(0, bottom - rows);	// what is outside is not drawn

	if (under.length !== width) {
		under = new Float64Array(width);
		edges = new Int32Array(width);
	}
	under.fill(0);
	edges.fill(lowest);
	for (const share of layers[0].colours.stack)
		for (const layer of layers)
			if (layer.line.used >>> share & 1)
				paintShare(layer, share, pixels, bottom, Math.min(height, bottom), height / whole_ns, hatching);
}

/** One state, on top of what is drawn already. Pixels beside each other that reach from one height to another are drawn together. */
function paintShare({ line: { width, ns }, colours }: Layer, share: number, pixels: Uint32Array, bottom: number, highest: number, per_ns: number, hatching: number): void {
	const one = colours.pixel[share], at = share * width, across = colours.across && colours.across.shares >>> share & 1 ? colours.across.pixel : null;
	const put = colours.hatched >>> share & 1 ? putHatched : putPlain;
	let begin = 0, low = 0, high = 0, drawn = one;

	for (let x = 0; x < width; x++) {
		const part = ns[at + x];
		let from = 0, to = 0;
		if (part !== 0) {
			from = edges[x];
			to = Math.min(highest, (under[x] += part * per_ns) + 0.5 | 0);
		}
		const pixel = across ? across[x] : one;
		if (from !== low || to !== high || pixel !== drawn) {
			if (high > low)
				put(pixels, width, bottom, begin, x, low, high, drawn, hatching);
			[begin, low, high, drawn] = [x, from, to, pixel];
		}
		if (to > from)
			edges[x] = to;
	}
	if (high > low)
		put(pixels, width, bottom, begin, width, low, high, drawn, hatching);
}

function putPlain(pixels: Uint32Array, width: number, bottom: number, begin: number, end: number, low: number, high: number, pixel: number): void {
	for (let y = low, row = (bottom - 1 - low) * width; y < high; y++, row -= width) {
		if (end - begin > WIDE_PX)
			pixels.fill(pixel, row + begin, row + end);
		else
			for (let to = row + begin; to < row + end; to++)
				pixels[to] = pixel;
	}
}

function putHatched(pixels: Uint32Array, width: number, bottom: number, begin: number, end: number, low: number, high: number, pixel: number, hatching: number): void {
	for (let y = low; y < high; y++)
		for (let x = begin; x < end; x++)
			pixels[(bottom - 1 - y) * width + x] = (x + bottom - y) % HATCH_PX === 0 ? hatching : pixel;
}
