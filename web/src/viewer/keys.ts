// SPDX-License-Identifier: GPL-2.0-or-later
// Everything by keys.
import { slicesIn } from "./find";
import { levelOf } from "./overlays";
import { Scene } from "./scene";
import type { Row } from "./lanes";
import type { Lane } from "./trace";

const ZOOM = 0.6, PAN = 0.15, PAGE_ROWS = 12, SELECT = 0.05, MARGIN = 0.15;

/** What the list of keys says. */
export const keyWords: [string, string][] = [
	["W S", "zoom in and out, at the pointer or in the middle"],
	["A D", "earlier and later"],
	["\u2191 \u2193", "the lane above and below; Page Up, Page Down, Home, End"],
	["\u2190 \u2192", "the slice before and behind; where they are too small to be told apart, earlier and later"],
	["Shift \u2190 \u2192", "select a stretch of time from the cursor on"],
	["Enter", "details of the slice, or open and close the lane"],
	["Space", "open and close the lane"],
	["P", "pin the lane to the top, or let it go"],
	["M", "a note at the cursor, of its lane; else in the middle of what is seen"],
	["F", "zoom to the selected time, or to the slice"],
	["0", "the whole trace"],
	["E", "stay at the end, while a trace grows; or let it go on without"],
	["R", "pause the picture, while a trace is recorded; or let it go on"],
	["Backspace", "undo the last step; with Shift, redo it"],
	["Escape", "forget the selection, then the slice"],
	["/", "search lanes"],
	["?", "this list"],
	["wheel", "zoom; with Shift earlier and later, with Alt scroll lanes"],
	["drag", "move; on the axis, select a stretch of time; with Shift, time and lanes"],
	["double click", "the whole trace"],
];

function focusRow(scene: Scene, by: number): void {
	const { session } = scene, { rows, pinned, byLane } = session.layout, all = [...pinned, ...rows];
	const now = session.store.state.focus === null ? undefined : byLane.get(session.store.state.focus);
	const at = now ? all.indexOf(now) : by > 0 ? -1 : all.length, next = all[Math.max(0, Math.min(all.length - 1, at + by))];

	if (next)
		session.store.set({ focus: next.lane.id });
}

function focused(scene: Scene): Row | undefined {
	const { session } = scene, { focus } = session.store.state;

	return focus === null ? undefined : session.layout.byLane.get(focus);
}

/** Puts the cursor there, and what is seen around it. */
function putCursor(scene: Scene, lane: Lane, time_ns: number): void {
	const { session, view } = scene, width_ns = view.to_ns - view.from_ns;

	session.store.set({ cursor_ns: time_ns, slice: lane.kind === "thread" ? { lane: lane.id, time_ns } : session.store.state.slice });
	if (time_ns < view.from_ns || time_ns >= view.to_ns)
		session.setView(time_ns - (time_ns < view.from_ns ? 1 - MARGIN : MARGIN) * width_ns, time_ns + (time_ns < view.from_ns ? MARGIN : 1 - MARGIN) * width_ns);
}

/** Goes to the slice before or behind the cursor; returns whether there are slices. */
function stepSlice(scene: Scene, by: number): boolean {
	const { session, view } = scene, { cursor_ns } = session.store.state, row = focused(scene);
	const at_ns = Math.max(view.from_ns, Math.min(cursor_ns ?? view.from_ns, view.to_ns - 1));
	const slices = row && row.lane.kind !== "host" ? slicesIn(session.tiles, row.lane.id, levelOf(scene), view) : null;
	const at = slices?.findIndex(slice => slice.end_ns > at_ns) ?? -1, now = slices?.[at];

	if (!row || !slices || !now)
		return false;
	const next = cursor_ns === null ? now : slices[at + by];
	if (next)
		putCursor(scene, row.lane, Math.round(next.begin_ns));
	else if (by > 0 ? now.isCutEnd || now.end_ns >= session.trace.whole_ns : now.isCutBegin || now.begin_ns <= session.trace.begin_ns)
		return false;			// more of it is on its way, or there is none
	else
		putCursor(scene, row.lane, Math.round(by > 0 ? now.end_ns : now.begin_ns - 1));
	return true;
}

/** The edge that the cursor is not at stays. */
function stretch(scene: Scene, by: number): void {
	const { session, view } = scene, { cursor_ns } = session.store.state, now = session.store.selection, step_ns = by * SELECT * (view.to_ns - view.from_ns);
	const anchor_ns = now ? (Math.abs(now.from_ns - (cursor_ns ?? 0)) < Math.abs(now.to_ns - (cursor_ns ?? 0)) ? now.to_ns : now.from_ns)
		: cursor_ns ?? (view.from_ns + view.to_ns) / 2;
	const edge_ns = Math.max(Math.min(0, session.whole.from_ns), Math.min(session.whole.to_ns, (now ? (anchor_ns === now.from_ns ? now.to_ns : now.from_ns) : anchor_ns) + step_ns));

	session.select(edge_ns === anchor_ns ? null : { from_ns: Math.min(anchor_ns, edge_ns), to_ns: Math.max(anchor_ns, edge_ns) });
	session.store.set({ cursor_ns: Math.round(edge_ns) });
}

function escape(scene: Scene): void {
	const { session } = scene;

	if (session.store.selection)
		session.select(null);
	else
		session.store.set({ slice: null, cursor_ns: null });
}

function enter(scene: Scene): void {
	const { session } = scene, row = focused(scene), { cursor_ns } = session.store.state;

	if (row?.lane.kind === "thread" && cursor_ns !== null)
		session.store.set({ slice: { lane: row.lane.id, time_ns: cursor_ns } });
	else if (row && row.isOpen !== null)
		session.toggle(row.lane.id);
}

export interface Wishes {
	onHelp: () => void;
	onSearch: () => void;
	onPause: () => unknown;
	onDetails: () => void;
}

/** Returns whether the key meant something. */
export function press(scene: Scene, event: KeyboardEvent, wishes: Wishes): boolean {
	const { session } = scene, { store } = session, row = focused(scene);
	const at_ns = scene.pointer ? scene.timeAt(scene.pointer.x) : (scene.view.from_ns + scene.view.to_ns) / 2;

	if (event.ctrlKey || event.metaKey || event.altKey)
		return false;
	switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
	case "w": case "+": case "=": session.zoom(ZOOM, at_ns); break;
	case "s": case "-": session.zoom(1 / ZOOM, at_ns); break;
	case "a": session.pan(-PAN); break;
	case "d": session.pan(PAN); break;
	case "ArrowUp": focusRow(scene, -1); break;
	case "ArrowDown": focusRow(scene, 1); break;
	case "PageUp": focusRow(scene, -PAGE_ROWS); break;
	case "PageDown": focusRow(scene, PAGE_ROWS); break;
	case "Home": focusRow(scene, -Infinity); break;
	case "End": focusRow(scene, Infinity); break;
	case "ArrowLeft": case "ArrowRight": {
		const by = event.key === "ArrowLeft" ? -1 : 1;
		if (event.shiftKey)
			stretch(scene, by);
		else if (!stepSlice(scene, by))
			session.pan(by * PAN);
		break;
	}
	case "Enter": enter(scene); wishes.onDetails(); break;
	case " ": if (row?.isOpen !== null && row) session.toggle(row.lane.id); break;
	case "p": if (row) session.pin(row.lane.id); break;
	case "m": session.addNote(store.state.cursor_ns ?? (scene.view.from_ns + scene.view.to_ns) / 2, store.state.cursor_ns === null ? null : store.state.focus); break;
	case "f": session.zoomToSelection(); break;
	case "0": session.showAll(); break;
	case "e": if (store.state.follow === null) session.follow(); else session.stay(); break;
	case "r": wishes.onPause(); break;
	case "Backspace": if (event.shiftKey) session.link.redo(); else session.link.undo(); break;
	case "Escape": escape(scene); break;
	case "/": wishes.onSearch(); break;
	case "?": wishes.onHelp(); break;
	default: return false;
	}
	return true;
}
