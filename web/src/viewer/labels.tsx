// SPDX-License-Identifier: GPL-2.0-or-later
// The names of the lanes that are in view, with what opens and pins them.
import { plural } from "../format";
import type { Row } from "./lanes";
import { AXIS_PX, CURVES_Y, headOf, OVERVIEW_PX } from "./scene";
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
	const { layout, curves } = session, head = headOf(session);

	return <div class="lane-labels">
		<div class="head-label" style={{ top: 0, height: `${OVERVIEW_PX}px` }}>{session.trace.isOfExecutions ? "all together" : "whole trace"}</div>
		<div class="head-label" style={{ top: `${OVERVIEW_PX}px`, height: `${AXIS_PX}px` }}>{plural(layout.rows.length, "lane")}</div>
		{curves.map(({ name, title, about, top, height }) => <div key={name} class="head-label" style={{ top: `${CURVES_Y + top}px`, height: `${height}px` }}
			data-tip={`${about}, on average over a pixel`}>{title}</div>)}
		<ul class="lane-list" style={{ top: `${head + layout.pinnedHeight}px` }}>
			{rows.map(({ row, top }) => <Label key={row.key} session={session} row={row} top={top - head - layout.pinnedHeight} isFocused={row.lane.id === focus} />)}
		</ul>
		<ul class="lane-list is-pinned" style={{ top: `${head}px`, height: `${layout.pinnedHeight}px` }}>
			{pinned.map(({ row, top }) => <Label key={row.key} session={session} row={row} top={top - head} isFocused={row.lane.id === focus} />)}
		</ul>
	</div>;
}
