// SPDX-License-Identifier: GPL-2.0-or-later
// What of a picture stays as it was drawn: a tile that comes changes some lanes, and the others are not painted again.
import type { Piece } from "./tiles";

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
	return a.length === b.length && a.every((one, i) => one === b[i]);
}

function isSamePiece(a: Piece, b: Piece): boolean {
	return a.tile === b.tile && a.begin_ns === b.begin_ns && a.from_ns === b.from_ns && a.to_ns === b.to_ns;
}

export class Painted {
	private of: readonly unknown[] = [];
	private parts = new Map<number, readonly Piece[]>();

	/** of: what all parts depend on besides their pieces. Returns whether parts may be as they were. */
	begin(of: readonly unknown[]): boolean {
		const isKept = isSame(of, this.of);

		if (!isKept)
			this.parts.clear();
		this.of = of;
		return isKept;
	}

	/** Whether the part was last drawn with the same pieces; from now on it is drawn with these. */
	has(part: number, pieces: readonly Piece[]): boolean {
		const before = this.parts.get(part);

		if (before?.length === pieces.length && pieces.every((piece, i) => isSamePiece(piece, before[i])))
			return true;
		this.parts.set(part, pieces);
		return false;
	}
}
