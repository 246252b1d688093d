// SPDX-License-Identifier: GPL-2.0-or-later
// What lies over the lanes: words in wide slices, wake-ups, events of programs' own, the selected time and slice.
import { plural } from "../format";
import { stateTitle } from "../states";
import { colour } from "../theme";
import { drawActivities, drawMessages } from "./activity_overlays";
import { type FoundSlice, sliceAround, slicesIn } from "./find";
import type { Row } from "./lanes";
import { type MarkStore, wakeKey } from "./marks";
import { drawNotes } from "./note_overlay";
import { coloursOf, stateOf } from "./palette";
import { passesEvent } from "./part_query";
import type { Pen } from "./pen";
import { CURVES_Y, GAP_PX, OVERVIEW_PX, type Scene, type Wake } from "./scene";
import { Tiles } from "./tiles";

const WAKES_MAX = 300, WORDS_PX = 46, MARK_PX = 3, SLICES_MAX = 4000;

interface Known {
	row: Row;
	slices: FoundSlice[];
}

export function levelOf(scene: Scene): number {
	return Tiles.shiftFor((scene.view.to_ns - scene.view.from_ns) / (scene.width * scene.ratio));
}

/** The slices of each thread in view of which they are known; null: they are too close to each other to say anything. */
function knownSlices(scene: Scene): Known[] | null {
	const { session, view } = scene, known: Known[] = [], shift = levelOf(scene);
	let count = 0;

	for (const row of [...session.layout.pinned, ...scene.seen]) {
		const slices = row.lane.kind === "thread" ? slicesIn(session.tiles, row.lane.id, shift, view) : null;
		if (slices)
			known.push({ row, slices });
		else if (row.lane.kind === "thread")
			return null;
		count += slices?.length ?? 0;
		if (count > SLICES_MAX)
			return null;
	}
	return known;
}

/** Wake-ups that end waits of the chosen causes, and that the script in use chooses. */
function wakesOf(scene: Scene, known: Known[], byScript: MarkStore["wakes"]): { wakes: Wake[]; hidden: number } {
	const { chosenTiles } = scene.session;
	const { tree, trace, layout } = scene.session, runnable = trace.shares.indexOf("runnable"), wakes: Wake[] = [];
	const chosen = scene.session.chosenShares, isChosen = (wait: FoundSlice | undefined) => chosen === null || (wait !== undefined && (chosen >>> wait.share & 1) === 1);
	let hidden = 0;

	for (const { row, slices } of known) {
		const parts = chosenTiles && slicesIn(chosenTiles, row.lane.id, levelOf(scene), scene.view), ends = parts && new Set(parts.map(part => part.end_ns));
		for (const [i, { share, who, isCutBegin, begin_ns }] of slices.entries()) {
			if (share !== runnable || !who || isCutBegin || begin_ns < scene.view.from_ns || !isChosen(slices[i - 1]) || (chosenTiles && !ends?.has(begin_ns)) || byScript?.has(wakeKey(row.lane.id, begin_ns)) === false)
				continue;
			const waker = tree.laneOfThread.get(who), from = waker === undefined ? undefined : tree.shown(waker, layout.byLane);
			if (waker !== undefined && from && from !== row)
				wakes.push({ time_ns: begin_ns, from, to: row, waker, woken: row.lane.id });
			else
				hidden++;
		}
	}
	return { wakes, hidden };
}

function drawWake(pen: Pen, scene: Scene, wake: Wake): void {
	const x = Math.round(scene.xOf(wake.time_ns)) + 0.5, from = scene.middleOf(wake.from), to = scene.middleOf(wake.to), down = to > from ? 1 : -1;

	pen.beginPath();
	pen.moveTo(x, from);
	pen.lineTo(x, to);
	pen.stroke();
	pen.beginPath();
	pen.moveTo(x, to);
	pen.lineTo(x - 3.5, to - 7 * down);
	pen.lineTo(x + 3.5, to - 7 * down);
	pen.fill();
	pen.beginPath();
	pen.arc(x, from, 2, 0, 2 * Math.PI);
	pen.fill();
}

/** Evenly chosen where there are too many. */
export function thinned<T>(all: T[], most: number): T[] {
	return all.length <= most ? all : Array.from({ length: most }, (_, i) => all[Math.floor(i * all.length / most)]);
}

function drawWakes(pen: Pen, scene: Scene, known: Known[], marks: MarkStore): string[] {
	const { wakes, hidden } = wakesOf(scene, known, scene.session.hasScriptFilter ? marks.wakes : null), drawn = thinned(wakes, WAKES_MAX), said: string[] = [];

	scene.wakes = drawn;
	pen.strokeStyle = pen.fillStyle = colour("accent");
	pen.lineWidth = 1.2;
	for (const wake of drawn)
		drawWake(pen, scene, wake);
	pen.lineWidth = 1;
	if (drawn.length < wakes.length)
		said.push(`${plural(drawn.length, "wake-up")} of ${wakes.length} are drawn: zoom in for all`);
	if (hidden)
		said.push(`${plural(hidden, "wake-up")} by threads that have no lane here are not drawn`);
	if (marks.wakesLeftOut)
		said.push(`${plural(marks.wakesLeftOut, "wake-up")} that the script chooses are not drawn: zoom in`);
	return said;
}

function threadRows(scene: Scene): Row[] {
	return [...scene.session.layout.pinned, ...scene.seen].filter(row => row.lane.kind === "thread");
}

function drawMarks(pen: Pen, scene: Scene, marks: MarkStore): string[] {
	const rows = threadRows(scene), { filters } = scene.session.store.state;

	pen.fillStyle = colour("fg");
	pen.strokeStyle = colour("bg");
	for (const row of rows) {
		const y = scene.middleOf(row);
		let before = -1;
		for (const { time_ns, name } of marks.byLane.get(row.lane.id) ?? []) {
			const x = Math.round(scene.xOf(time_ns)), dot = name.lastIndexOf(".");
			if (!passesEvent(filters, name.slice(0, Math.max(0, dot)), name.slice(dot + 1)) || x === before || x < 0 || x > scene.width)	// where several would lie on each other, one is drawn
				continue;
			before = x;
			pen.beginPath();
			pen.arc(x, y, MARK_PX, 0, 2 * Math.PI);
			pen.fill();
			pen.stroke();
		}
	}
	return marks.leftOut ? [`${plural(marks.leftOut, "event")} of the programs' own are not drawn: zoom in for all`]
		: marks.isUnread ? ["There may be more events of the programs' own: zoom in for all"] : [];
}

function drawWords(pen: Pen, scene: Scene, known: Known[]): void {
	const { trace, tree, store } = scene.session, { colouring } = store.state;

	if (colouring === "weight")		// the same state has many colours
		return;
	for (const { row, slices } of known) {
		const colours = coloursOf(scene.palette!, row.lane, colouring, tree.applications.of(row.lane), null);
		for (const slice of slices) {
			const left = Math.max(0, scene.xOf(slice.begin_ns)), width = Math.min(scene.width, scene.xOf(slice.end_ns)) - left;
			if (width < WORDS_PX || row.lane.is_idle)
				continue;
			const words = stateTitle(stateOf(trace, row.lane, slice.share));
			if (pen.measureText(words).width > width - 8)
				continue;
			pen.fillStyle = inkOn(colours.pixel[slice.share]);
			pen.fillText(words, left + 4, scene.middleOf(row) + 0.5);
		}
	}
}

/** Black or white, whichever can be read on it. */
function inkOn(pixel: number): string {
	const light = [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255].map(byte => (byte / 255) ** 2.2);

	return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.2 ? "#000000" : "#ffffff";
}

/** What of the height is selected: lanes, or all. */
function selectedHeights(scene: Scene): [number, number][] {
	const { layout, store } = scene.session, { boxed } = store.state;

	if (scene.session.dragged)
		return [[OVERVIEW_PX, scene.height]];
	if (scene.dragged)
		return [scene.box ? [scene.box.top, scene.box.bottom] : [OVERVIEW_PX, scene.height]];
	return boxed.length ? boxed.map(lane => layout.byLane.get(lane)).filter(row => row !== undefined).map((row): [number, number] => [scene.topOf(row), scene.topOf(row) + row.height])
		.filter(([top]) => top >= scene.headPx - 1) : [[OVERVIEW_PX, scene.height]];
}

function drawSelection(pen: Pen, scene: Scene): void {
	const range = scene.dragged ?? scene.session.dragged ?? scene.session.store.selection;

	if (!range)
		return;
	const left = scene.xOf(range.from_ns), right = scene.xOf(range.to_ns);
	pen.fillStyle = pen.strokeStyle = colour("accent");
	pen.globalAlpha = 0.14;
	for (const [top, bottom] of selectedHeights(scene))
		pen.fillRect(left, top, right - left, bottom - top);
	pen.globalAlpha = 1;
	if (scene.session.store.state.boxed.length || scene.box)
		for (const [top, bottom] of selectedHeights(scene))
			pen.strokeRect(left, top - 0.5, right - left, bottom - top);
	pen.globalAlpha = 0.5;
	pen.fillRect(left, OVERVIEW_PX, Math.max(1, right - left), 4);
	pen.globalAlpha = 1;
	pen.beginPath();
	for (const x of [left, right]) {
		pen.moveTo(Math.round(x) + 0.5, OVERVIEW_PX);
		pen.lineTo(Math.round(x) + 0.5, scene.height);
	}
	pen.stroke();
}

function drawFocus(pen: Pen, scene: Scene): void {
	const { session } = scene, { focus, slice, cursor_ns } = session.store.state, row = focus === null ? undefined : session.layout.byLane.get(focus);

	pen.strokeStyle = colour("fg");
	if (row) {
		const top = scene.topOf(row);
		pen.globalAlpha = 0.5;
		pen.strokeRect(-2, top - 1.5, scene.width + 4, row.height);
		pen.globalAlpha = 1;
	}
	const at = slice && session.layout.byLane.get(slice.lane);
	const found = at && sliceAround(session.tiles, session.trace, slice.lane, levelOf(scene), slice.time_ns, scene.view);
	if (at && found) {
		const left = scene.xOf(found.begin_ns), right = scene.xOf(found.end_ns);
		pen.lineWidth = 2;
		pen.strokeRect(left, scene.topOf(at) - 1, Math.max(2, right - left), at.height - GAP_PX + 2);
		pen.lineWidth = 1;
	}
	if (cursor_ns !== null) {
		const x = Math.round(scene.xOf(cursor_ns)) + 0.5;
		pen.setLineDash([3, 3]);
		pen.beginPath();
		pen.moveTo(x, CURVES_Y);
		pen.lineTo(x, scene.height);
		pen.stroke();
		pen.setLineDash([]);
	}
}

/** Where the pointer is on the other one of two sides. */
function drawHovered(pen: Pen, scene: Scene): void {
	const { hovered_ns } = scene.session;

	if (hovered_ns === null)
		return;
	pen.fillStyle = colour("accent");
	pen.fillRect(Math.round(scene.xOf(hovered_ns)), OVERVIEW_PX, 1, scene.height - OVERVIEW_PX);
}

/** Returns what is left out, in words. */
export function drawOverlays(pen: Pen, scene: Scene, marks: MarkStore): string {
	const { hidden } = scene.session, known = knownSlices(scene), said: string[] = [];

	scene.wakes = [];
	scene.messages = [];
	pen.save();
	pen.beginPath();
	pen.rect(0, scene.headPx, scene.width, scene.height - scene.headPx);
	pen.clip();
	drawWords(pen, scene, known ?? []);
	if (!hidden.has("activities") || !hidden.has("messages"))
		scene.activities.want(scene.view, threadRows(scene).map(row => row.lane.id));
	if (!hidden.has("activities"))
		said.push(...drawActivities(pen, scene, threadRows(scene)));
	if (!hidden.has("marks") || (!hidden.has("wakes") && scene.session.hasScriptFilter))
		marks.want(scene.view, threadRows(scene).map(row => row.lane.id));
	if (!hidden.has("wakes"))
		said.push(...(known ? drawWakes(pen, scene, known, marks) : ["Wake-ups are too close to each other here: zoom in"]));
	if (!hidden.has("messages"))
		said.push(...drawMessages(pen, scene));
	if (!hidden.has("marks"))
		said.push(...drawMarks(pen, scene, marks));
	pen.restore();
	pen.save();
	drawSelection(pen, scene);
	pen.beginPath();
	pen.rect(0, OVERVIEW_PX, scene.width, scene.height - OVERVIEW_PX);
	pen.clip();
	drawFocus(pen, scene);
	drawNotes(pen, scene);
	drawHovered(pen, scene);
	pen.restore();
	return said.join(". ");
}
