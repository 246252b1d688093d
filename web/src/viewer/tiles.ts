// SPDX-License-Identifier: GPL-2.0-or-later
// The tiles that the page has and those that it waits for. What is drawn says what it wants, frame by frame: what is
// no longer wanted is not asked for any more.
import { isAborted, Refusal, type Server } from "./server";
import { bytesOf, readTile, SHIFT_MAX, SHIFT_MIN, type Tile, tileNs, Varints } from "./tile";
import { CPU_OTHER, CPU_TRACED, type Trace } from "./trace";

const BYTES_MAX = 64 << 20, FLIGHTS_MAX = 4, LANES_KEY = 2 ** 20, LANES_MAX = 256, REFUSED_MS = 3000, NO_CONTENT = 204;

interface Kept {
	tile: Tile;
	used: number;			// the frame
	bytes: number;
	isStale: boolean;		// there may be more by now: it is asked for again
}

/** Part of a tile, to be drawn. */
export interface Piece {
	tile: Tile;
	begin_ns: number;		// of the tile
	shift: number;
	from_ns: number;
	to_ns: number;
}

interface Wish {
	shift: number;
	index: number;
	lanes: Set<number>;
}

interface Flight extends Wish {
	abort: AbortController;
}

/** 3-5 for 3, 4, 5. */
export function rangesOf(sorted: number[]): string {
	const ranges: string[] = [];

	for (let i = 0; i < sorted.length; ) {
		let last = i;
		while (sorted[last + 1] === sorted[last] + 1)
			last++;
		ranges.push(last > i ? `${sorted[i]}-${sorted[last]}` : String(sorted[i]));
		i = last + 1;
	}
	return ranges.join(",");
}

export class Tiles {
	bytes = 0;
	asked = 0;				// requests, of all times
	error: string | null = null;
	private levels: Map<number, Kept>[] = Array.from({ length: SHIFT_MAX + 1 }, () => new Map());
	private wishes = new Map<string, Wish>();
	private flights = new Set<Flight>();
	private refused = new Map<string, number>();
	private frame = 0;
	private runnable: number;

	/** chosen: parameters of what tiles are of alone, each with an & before it. */
	constructor(private server: Server, private trace: Trace, private onTile: () => void, readonly chosen = "") {
		this.runnable = trace.shares.indexOf("runnable");
	}

	get waiting(): number {
		return this.flights.size;
	}

	/** The level whose columns are at most a pixel wide. */
	static shiftFor(ns_per_px: number): number {
		return Math.max(SHIFT_MIN, Math.min(SHIFT_MAX, Math.floor(Math.log2(ns_per_px))));
	}

	begin(): void {
		this.frame++;
		this.wishes.clear();
	}

	/** Asks for what was wanted since begin(), what is nearest to the time first. */
	end(near_ns: number): void {
		for (const flight of this.flights)
			if (!this.isWished(flight))
				flight.abort.abort();
		const distance = (wish: Wish) => Math.abs(this.trace.origin_ns + (wish.index + 0.5) * tileNs(wish.shift) - near_ns);
		const wishes = [...this.wishes.values()].sort((a, b) => a.shift - b.shift || distance(a) - distance(b));

		for (const wish of wishes) {
			const missing = [...wish.lanes].filter(lane => !this.isUnderWay(wish, lane)).sort((a, b) => a - b);
			for (let i = 0; i < missing.length; i += LANES_MAX) {
				if (this.flights.size >= FLIGHTS_MAX)
					return;
				this.ask({ ...wish, lanes: new Set(missing.slice(i, i + LANES_MAX)) });
			}
		}
	}

	/**
	 * What is known of a lane from from_ns to to_ns, in pieces in the order of time, and a wish for what is not. A tile with slices
	 * says all of what lies in it, however near one looks; of others, what is coarser or finer stands in until the right one is there.
	 */
	cover(lane: number, shift: number, from_ns: number, to_ns: number, out: Piece[]): void {
		const { origin_ns, whole_ns } = this.trace, width_ns = tileNs(shift);
		const last = Math.floor((Math.min(to_ns, whole_ns) - origin_ns - 1) / width_ns);

		for (let index = Math.max(0, Math.floor((from_ns - origin_ns) / width_ns)); index <= last; index++) {
			const begin_ns = origin_ns + index * width_ns;
			const from = Math.max(from_ns, begin_ns), to = Math.min(to_ns, begin_ns + width_ns);
			if (!this.put(lane, shift, index, from, to, out))
				this.wish(lane, shift, index);
		}
	}

	/**
	 * The trace has grown. What reached its end is asked for again, as is what a ring has overwritten since, and sums of several threads, if lanes
	 * have other places by now: places says which; null: none has.
	 */
	update(trace: Trace, places: ReadonlyMap<number, number> | null): void {
		const since_ns = this.trace.whole_ns, isOther = trace.is_live !== this.trace.is_live;
		const keptFrom_ns = trace.begin_ns > this.trace.begin_ns ? trace.begin_ns : -Infinity;

		this.levels.forEach((level, shift) => {
			const before = [...level];
			if (places)
				level.clear();
			for (const [key, kept] of before) {
				const index = Math.floor(key / LANES_KEY), lane = places ? places.get(key % LANES_KEY) : key % LANES_KEY;
				kept.isStale ||= isOther || trace.origin_ns + (index + 1) * tileNs(shift) > since_ns || trace.origin_ns + index * tileNs(shift) < keptFrom_ns || (places !== null && trace.lanes[lane!]?.threads !== 1);
				if (lane === undefined)
					this.bytes -= kept.bytes;
				else
					level.set(index * LANES_KEY + lane, kept);
			}
		});
		this.trace = trace;
		this.onTile();
	}

	/** The server is back. */
	again(): void {
		this.refused.clear();
		this.error = null;
		this.onTile();
	}

	stop(): void {
		for (const flight of this.flights)
			flight.abort.abort();
	}

	private find(lane: number, shift: number, index: number): Kept | undefined {
		const kept = this.levels[shift].get(index * LANES_KEY + lane);

		if (kept)
			kept.used = this.frame;
		return kept;
	}

	private get(lane: number, shift: number, index: number): Tile | undefined {
		return this.find(lane, shift, index)?.tile;
	}

	private piece(tile: Tile, shift: number, index: number, from_ns: number, to_ns: number): Piece {
		return { tile, shift, begin_ns: this.trace.origin_ns + index * tileNs(shift), from_ns, to_ns };
	}

	/** More of a coarse tile makes the piece before it longer. */
	private push(out: Piece[], piece: Piece): void {
		const last = out[out.length - 1];

		if (last?.tile === piece.tile && last.begin_ns === piece.begin_ns && last.to_ns === piece.from_ns)
			last.to_ns = piece.to_ns;
		else
			out.push(piece);
	}

	/** Returns whether that is all there is to know. */
	private put(lane: number, shift: number, index: number, from_ns: number, to_ns: number, out: Piece[]): boolean {
		const exact = this.find(lane, shift, index);
		let coarse: Piece | null = null;

		if (exact) {
			this.push(out, this.piece(exact.tile, shift, index, from_ns, to_ns));
			return !exact.isStale;
		}
		for (let up = shift + 1; up <= SHIFT_MAX; up++) {
			if (!this.levels[up].size)
				continue;
			const above = Math.floor(index / 2 ** (up - shift)), kept = this.find(lane, up, above);
			if (!kept)
				continue;
			const { tile } = kept;
			if (tile.kind === "nothing" || tile.kind === "slices") {
				this.push(out, this.piece(tile, up, above, from_ns, to_ns));
				return !kept.isStale;
			}
			coarse ??= this.piece(tile, up, above, from_ns, to_ns);
		}
		this.putFiner(lane, shift, index, from_ns, to_ns, coarse, out);
		return false;
	}

	/** Finer tiles, where they are there, else the coarse one: it looks the same as the right one, but for roundings. */
	private putFiner(lane: number, shift: number, index: number, from_ns: number, to_ns: number, coarse: Piece | null, out: Piece[]): void {
		const below = shift - 1, width_ns = tileNs(below);

		if (below < SHIFT_MIN || !this.levels[below].size) {
			if (coarse)
				this.push(out, coarse);
			return;
		}
		for (const half of [2 * index, 2 * index + 1]) {
			const begin_ns = this.trace.origin_ns + half * width_ns, tile = this.get(lane, below, half);
			const from = Math.max(from_ns, begin_ns), to = Math.min(to_ns, begin_ns + width_ns);
			if (from >= to)
				continue;
			if (tile)
				this.push(out, this.piece(tile, below, half, from, to));
			else if (coarse)
				this.push(out, { ...coarse, from_ns: from, to_ns: to });
		}
	}

	private wish(lane: number, shift: number, index: number): void {
		const key = `${shift}/${index}`, wish = this.wishes.get(key);

		if (wish)
			wish.lanes.add(lane);
		else
			this.wishes.set(key, { shift, index, lanes: new Set([lane]) });
	}

	private isWished(flight: Flight): boolean {
		const wish = this.wishes.get(`${flight.shift}/${flight.index}`);

		return wish !== undefined && [...flight.lanes].some(lane => wish.lanes.has(lane));
	}

	private isUnderWay(wish: Wish, lane: number): boolean {
		const until = this.refused.get(`${wish.shift}/${wish.index}`);

		if (until !== undefined && until > performance.now())
			return true;
		for (const flight of this.flights)
			if (flight.shift === wish.shift && flight.index === wish.index && flight.lanes.has(lane) && !flight.abort.signal.aborted)
				return true;
		return false;
	}

	private async ask(wish: Wish): Promise<void> {
		const { shift, index } = wish, lanes = [...wish.lanes], flight = { ...wish, abort: new AbortController() };

		const { key, whole_ns } = this.trace;

		this.flights.add(flight);
		this.asked++;
		try {
			const bytes = await this.server.bytes(`tiles?shift=${shift}&index=${index}&lanes=${rangesOf(lanes)}${key && `&of=${key}`}${this.chosen}`, flight.abort.signal);
			if (key === this.trace.key)		// else these lanes have other places by now
				this.take(bytes, shift, index, lanes, whole_ns);
			this.error = null;
		} catch (error) {
			if (!isAborted(error) && !(error instanceof Refusal && error.status === NO_CONTENT))
				this.refuse(`${shift}/${index}`, error);
		}
		this.flights.delete(flight);
		this.onTile();
	}

	private refuse(key: string, error: unknown): void {
		if (this.server.connection === "there")
			this.error = error instanceof Refusal || error instanceof Error ? error.message : String(error);
		this.refused.set(key, performance.now() + REFUSED_MS);
		setTimeout(() => {
			this.refused.delete(key);
			this.onTile();
		}, REFUSED_MS);
	}

	/** It was asked for when the trace was as long as whole_ns. */
	private take(bytes: Uint8Array, shift: number, index: number, lanes: number[], whole_ns: number): void {
		const numbers = new Varints(bytes), end_ns = this.trace.origin_ns + (index + 1) * tileNs(shift);
		const isStale = end_ns > whole_ns && this.trace.whole_ns > whole_ns;

		for (const lane of lanes) {
			const isCpu = this.trace.lanes[lane].kind === "cpu";
			const tile = readTile(numbers, isCpu ? share => share === CPU_TRACED || share === CPU_OTHER : share => share === this.runnable);
			this.keep(lane, shift, index, tile, isStale);
		}
		if (!numbers.isAtEnd)
			throw new Error("a tile has more than was asked for");
		if (this.bytes > BYTES_MAX)
			this.shrink();
	}

	private keep(lane: number, shift: number, index: number, tile: Tile, isStale: boolean): void {
		const key = index * LANES_KEY + lane, bytes = bytesOf(tile);

		this.bytes += bytes - (this.levels[shift].get(key)?.bytes ?? 0);
		this.levels[shift].set(key, { tile, used: this.frame, bytes, isStale });
	}

	/** Those that were used longest ago go, down to three quarters. */
	private shrink(): void {
		const all = this.levels.flatMap(level => [...level].map(([key, kept]) => ({ level, key, kept })));

		all.sort((a, b) => a.kept.used - b.kept.used);
		for (const { level, key, kept } of all) {
			if (this.bytes <= BYTES_MAX * 0.75)
				break;
			level.delete(key);
			this.bytes -= kept.bytes;
		}
	}
}
