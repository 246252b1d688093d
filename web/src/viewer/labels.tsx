// SPDX-License-Identifier: GPL-2.0-or-later
// The names of the lanes that are in view, with what opens and pins them.
import { plural } from "../format";
import type { Row } from "./lanes";
import { CURVE_PX, AXIS_PX, HEAD_PX, OVERVIEW_PX } from "./scene";
import type { Session } from "./session";
import { tellLane } from "./tell";

function Label({ session, row, top, isFocused }: { session: Session; row: Row; top: number; isFocused: boolean }) {
	const { lane, isOpen } = row;

	return <li class={`lane is-${lane.kind}${isFocused ? " is-focused" : ""}${lane.is_idle ? " is-idle" : ""}`} data-lane={lane.id}
		style={{ top: `${top}px`, height: `${row.height}px`, "--depth": Math.min(row.depth, 4) }}
		data-tip={tellLane(row, session.trace)} onClick={() => session.store.set({ focus: lane.id })}>
		{isOpen === null ? <span class="no-toggle" /> : <button type="button" class="toggle" tabIndex={-1} aria-expanded={isOpen}
			aria-label={`${isOpen ? "Close" : "Open"} ${row.title}`} onClick={() => session.toggle(lane.id)}>{isOpen ? "\u25be" : "\u25b8"}</button>}
		<span class="name">{row.title}</span>
		<button type="button" class="pin" tabIndex={-1} aria-pressed={row.isPinned} aria-label={`Pin ${row.title}`}
			onClick={() => session.pin(lane.id)}>{row.isPinned ? "\u25c6" : "\u25c7"}</button>
	</li>;
}

export interface Labelled {
	row: Row;
	top: number;
}

export function Labels({ session, pinned, rows, focus }: { session: Session; pinned: Labelled[]; rows: Labelled[]; focus: number | null }) {
	const { layout } = session;

	return <div class="lane-labels">
		<div class="head-label" style={{ top: 0, height: `${OVERVIEW_PX}px` }}>whole trace</div>
		<div class="head-label" style={{ top: `${OVERVIEW_PX}px`, height: `${AXIS_PX}px` }}>{plural(layout.rows.length, "lane")}</div>
		<div class="head-label" style={{ top: `${OVERVIEW_PX + AXIS_PX}px`, height: `${CURVE_PX}px` }}
			data-tip="How many threads ran, on average over a pixel">running</div>
		<ul class="lane-list" style={{ top: `${HEAD_PX + layout.pinnedHeight}px` }}>
			{rows.map(({ row, top }) => <Label key={row.key} session={session} row={row} top={top - HEAD_PX - layout.pinnedHeight} isFocused={row.lane.id === focus} />)}
		</ul>
		<ul class="lane-list is-pinned" style={{ top: `${HEAD_PX}px`, height: `${layout.pinnedHeight}px` }}>
			{pinned.map(({ row, top }) => <Label key={row.key} session={session} row={row} top={top - HEAD_PX} isFocused={row.lane.id === focus} />)}
		</ul>
	</div>;
}
