// SPDX-License-Identifier: GPL-2.0-or-later
// What there is at a place of the picture, by the tiles that the page has.
import type { Range } from "../range";
import { sliceAt } from "./painter";
import { BEGINS_BEFORE, ENDS_AFTER, type Slices } from "./tile";
import { type Piece, Tiles } from "./tiles";
import type { Trace } from "./trace";

export interface FoundSlice {
	begin_ns: number;
	end_ns: number;
	share: number;
	who: number;
	isCutBegin: boolean;		// it begins before what is known here
	isCutEnd: boolean;
}

function sliceOf(piece: Piece, tile: Slices, i: number): FoundSlice {
	return { begin_ns: piece.begin_ns + tile.begin_ns[i], end_ns: piece.begin_ns + tile.end_ns[i], share: tile.share[i], who: tile.who[i],
		isCutBegin: (tile.bits[i] & BEGINS_BEFORE) !== 0, isCutEnd: (tile.bits[i] & ENDS_AFTER) !== 0 };
}

/** Slices of a lane in a stretch of time, those that tiles cut put together again; null where only columns are known. */
export function slicesIn(tiles: Tiles, lane: number, shift: number, range: Range): FoundSlice[] | null {
	const pieces: Piece[] = [], slices: FoundSlice[] = [];

	tiles.cover(lane, shift, range.from_ns, range.to_ns, pieces);
	for (const piece of pieces) {
		if (piece.tile.kind === "columns")
			return null;
		if (piece.tile.kind !== "slices")
			continue;
		for (let i = sliceAt(piece.tile, piece.from_ns - piece.begin_ns); i < piece.tile.count; i++) {
			const slice = sliceOf(piece, piece.tile, i), before = slices[slices.length - 1];
			if (slice.begin_ns >= piece.to_ns)
				break;
			if (before?.isCutEnd && slice.isCutBegin && before.end_ns === slice.begin_ns && before.share === slice.share) {
				before.end_ns = slice.end_ns;
				before.isCutEnd = slice.isCutEnd;
			} else {
				slices.push(slice);
			}
		}
	}
	return slices;
}

/** The whole slice at a time, as far as tiles say. */
export function sliceAround(tiles: Tiles, trace: Trace, lane: number, shift: number, time_ns: number, view: Range): FoundSlice | null {
	const range = { from_ns: Math.max(0, Math.min(view.from_ns, time_ns)), to_ns: Math.min(trace.whole_ns, Math.max(view.to_ns, time_ns + 1)) };

	return slicesIn(tiles, lane, shift, range)?.find(slice => slice.begin_ns <= time_ns && time_ns < slice.end_ns) ?? null;
}

/** The parts of states in a stretch of time, in ns, by share. */
export function sharesIn(tiles: Tiles, lane: number, shift: number, range: Range): Map<number, number> {
	const pieces: Piece[] = [], sums = new Map<number, number>();
	const add = (share: number, ns: number) => ns > 0 && sums.set(share, (sums.get(share) ?? 0) + ns);

	tiles.cover(lane, shift, range.from_ns, range.to_ns, pieces);
	for (const { tile, begin_ns, from_ns, to_ns, shift: level } of pieces) {
		const overlap = (begin: number, end: number) => Math.min(to_ns, begin_ns + end) - Math.max(from_ns, begin_ns + begin);
		if (tile.kind === "slices")
			for (let i = sliceAt(tile, from_ns - begin_ns); i < tile.count && begin_ns + tile.begin_ns[i] < to_ns; i++)
				add(tile.share[i], overlap(tile.begin_ns[i], tile.end_ns[i]));
		else if (tile.kind === "columns")
			for (let i = 0; i < tile.count; i++)
				for (let k = tile.item[i]; k < tile.item[i + 1]; k++)
					add(tile.share[k], overlap(tile.first[i] * 2 ** level, tile.first[i + 1] * 2 ** level) / 2 ** level * tile.ns[k]);
	}
	return sums;
}
