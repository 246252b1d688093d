// SPDX-License-Identifier: GPL-2.0-or-later
// Where what is in the picture: time is across, lanes are down, below the overview, the axis and the curves.
import type { Range } from "../range";
import { ActivityStore } from "./activities";
import type { Message } from "./activity_overlays";
import type { Curve } from "./curves";
import { type Row, rowAt } from "./lanes";
import type { Palette } from "./palette";
import type { Session } from "./session";

export const OVERVIEW_PX = 28, AXIS_PX = 22, CURVES_Y = OVERVIEW_PX + AXIS_PX, GAP_PX = 3;

/** A thread woke another one; where a lane is not shown, the row is that of what it is in. */
export interface Wake {
	time_ns: number;
	from: Row;
	to: Row;
	waker: number;			// lanes
	woken: number;
}

export type Area = "overview" | "axis" | "curve" | "lanes";

export function headOf(session: Session): number {
	return session.curves.reduce((sum, curve) => sum + curve.height, CURVES_Y);
}

export class Scene {
	width = 0;			// in px of the style sheet
	height = 0;
	ratio = 1;			// pixels in each
	scroll = 0;
	palette: Palette | null = null;
	shares: number | null = null;	// of which the palette is
	pointer: { x: number; y: number } | null = null;
	dragged: Range | null = null;	// the time that is being selected
	box: { top: number; bottom: number } | null = null;	// px of the lanes that are being selected with it; null: all
	wakes: Wake[] = [];		// those that are drawn
	messages: Message[] = [];	// the same
	said = "";			// what could not be drawn

	readonly activities: ActivityStore;

	/** redraw: when there is more to draw. */
	constructor(readonly session: Session, redraw: () => void) {
		this.activities = new ActivityStore(session, redraw);
	}

	get view(): Range {
		return this.session.view;
	}

	get perNs(): number {
		return this.width / (this.view.to_ns - this.view.from_ns);
	}

	xOf(time_ns: number): number {
		return (time_ns - this.view.from_ns) * this.perNs;
	}

	timeAt(x: number): number {
		return this.view.from_ns + x / this.perNs;
	}

	get whole(): Range {
		return this.session.whole;
	}

	/** In the overview, which has all of the time. */
	wholeTimeAt(x: number): number {
		return this.whole.from_ns + x / this.width * (this.whole.to_ns - this.whole.from_ns);
	}

	areaAt(y: number): Area {
		return y < OVERVIEW_PX ? "overview" : y < CURVES_Y ? "axis" : y < this.headPx ? "curve" : "lanes";
	}

	/** All that stands above the lanes. */
	get headPx(): number {
		return headOf(this.session);
	}

	curveAt(y: number): Curve | undefined {
		return this.session.curves.find(curve => y >= CURVES_Y + curve.top && y < CURVES_Y + curve.top + curve.height);
	}

	/** Where lanes begin that are not pinned. */
	get lanesTop(): number {
		return this.headPx + this.session.layout.pinnedHeight;
	}

	topOf(row: Row): number {
		return this.session.layout.pinned.includes(row) ? this.headPx + row.top : this.lanesTop + row.top - this.scroll;
	}

	middleOf(row: Row): number {
		return this.topOf(row) + (row.height - GAP_PX) / 2;
	}

	rowAt(y: number): Row | undefined {
		const { pinned, rows } = this.session.layout;

		return y < this.headPx ? undefined : y < this.lanesTop ? pinned[rowAt(pinned, y - this.headPx)] : rows[rowAt(rows, y - this.lanesTop + this.scroll)];
	}

	/** From one height to another. */
	rowsIn(top: number, bottom: number): Row[] {
		return [...this.session.layout.pinned, ...this.seen].filter(row => this.topOf(row) < bottom && this.topOf(row) + row.height - GAP_PX > top);
	}

	/** Those that are not pinned. */
	get seen(): Row[] {
		const { rows } = this.session.layout, seen: Row[] = [];

		for (let i = rowAt(rows, this.scroll); i < rows.length && rows[i].top - this.scroll < this.height - this.lanesTop; i++)
			seen.push(rows[i]);
		return seen;
	}
}
