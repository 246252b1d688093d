// SPDX-License-Identifier: GPL-2.0-or-later
// A tile: what a lane did in 256 columns of 2^shift ns, as the server sends it. What comes is not trusted.

export const COLUMNS = 256, COLUMN_BITS = 8, SHIFT_MIN = 8, SHIFT_MAX = 43;
export const BEGINS_BEFORE = 1, ENDS_AFTER = 2;

const SLICES_MAX = 1 << 16, SHARES_MAX = 32;

/** Nothing is known of the lane there. */
interface Nothing {
	kind: "nothing";
}

/** Each state, exactly; what lies between them is unknown. Times from the begin of the tile on. */
export interface Slices {
	kind: "slices";
	count: number;
	begin_ns: Float64Array;
	end_ns: Float64Array;
	share: Uint8Array;
	bits: Uint8Array;
	who: Uint32Array;		// of runnable: the waker; of a CPU: the thread, or the tid of another program's
}

/** Runs of columns that are alike: columns first[i] up to first[i + 1] have the items from item[i] on. */
export interface Columns {
	kind: "columns";
	count: number;
	first: Uint16Array;
	item: Uint32Array;
	share: Uint8Array;
	ns: Float64Array;		// in each column
}

export type Tile = Nothing | Slices | Columns;

export function tileNs(shift: number): number {
	return 2 ** (shift + COLUMN_BITS);
}

export function bytesOf(tile: Tile): number {
	const own = 200;

	return own + (tile.kind === "slices" ? 22 * tile.count : tile.kind === "columns" ? 6 * tile.count + 9 * tile.share.length : 0);
}

/** Unsigned LEB128, one number after the other. */
export class Varints {
	private at = 0;

	constructor(private bytes: Uint8Array) {}

	next(): number {
		let value = 0, unit = 1;

		for (let i = 0; i < 8; i++, unit *= 128) {
			const byte = this.bytes[this.at++];
			if (byte === undefined)
				throw new Error("a tile ends too early");
			value += (byte & 127) * unit;
			if (byte < 128)
				return value;
		}
		throw new Error("a number of a tile is too large");
	}

	/** At most max. */
	below(max: number): number {
		const value = this.next();

		if (value > max)
			throw new Error(`a tile has ${value} where at most ${max} can be`);
		return value;
	}

	get isAtEnd(): boolean {
		return this.at === this.bytes.length;
	}
}

function readSlices(from: Varints, hasWho: (share: number) => boolean): Slices {
	const count = from.below(SLICES_MAX);
	const tile: Slices = { kind: "slices", count, begin_ns: new Float64Array(count), end_ns: new Float64Array(count),
		share: new Uint8Array(count), bits: new Uint8Array(count), who: new Uint32Array(count) };

	for (let i = 0, end_ns = 0; i < count; i++) {
		tile.begin_ns[i] = end_ns + from.next();
		tile.end_ns[i] = end_ns = tile.begin_ns[i] + from.next();
		tile.share[i] = from.below(SHARES_MAX - 1);
		tile.bits[i] = from.below(BEGINS_BEFORE | ENDS_AFTER);
		if (hasWho(tile.share[i]))
			tile.who[i] = from.below(0xffffffff);
	}
	return tile;
}

function readColumns(from: Varints): Columns {
	const first: number[] = [], item: number[] = [], share: number[] = [], ns: number[] = [];
	let column = 0;

	while (column < COLUMNS) {
		first.push(column);
		item.push(share.length);
		const repeat = from.below(COLUMNS - column);
		if (!repeat)
			throw new Error("a run of columns of a tile is empty");
		column += repeat;
		for (let n = from.below(SHARES_MAX); n > 0; n--) {
			share.push(from.below(SHARES_MAX - 1));
			ns.push(from.next());
		}
	}
	return { kind: "columns", count: first.length, first: Uint16Array.from([...first, COLUMNS]), item: Uint32Array.from([...item, share.length]),
		share: Uint8Array.from(share), ns: Float64Array.from(ns) };
}

const NOTHING: Nothing = { kind: "nothing" };

/** hasWho: the shares of which slices of this lane say who. */
export function readTile(from: Varints, hasWho: (share: number) => boolean): Tile {
	switch (from.below(2)) {
	case 0: return NOTHING;
	case 1: return readSlices(from, hasWho);
	default: return readColumns(from);
	}
}
