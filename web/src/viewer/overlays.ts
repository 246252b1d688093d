// SPDX-License-Identifier: GPL-2.0-or-later
// What lies over the lanes: words in wide slices, wake-ups, events of programs' own, the selected time and slice.
import { plural } from "../format";
import { getRange } from "../range";
import { stateTitle } from "../states";
import { colour } from "../theme";
import { type FoundSlice, sliceAround, slicesIn } from "./find";
import type { Row } from "./lanes";
import type { MarkStore } from "./marks";
import { coloursOf, stateOf } from "./palette";
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

function wakesOf(scene: Scene, known: Known[]): { wakes: Wake[]; hidden: number } {
	const { tree, trace, layout } = scene.session, runnable = trace.shares.indexOf("runnable"), wakes: Wake[] = [];
	let hidden = 0;

	for (const { row, slices } of known)
		for (const { share, who, isCutBegin, begin_ns } of slices) {
			if (share !== runnable || !who || isCutBegin || begin_ns < scene.view.from_ns)
				continue;
			const waker = tree.laneOfThread.get(who), from = waker === undefined ? undefined : tree.shown(waker, layout.byLane);
			if (waker !== undefined && from && from !== row)
				wakes.push({ time_ns: begin_ns, from, to: row, waker, woken: row.lane.id });
			else
				hidden++;
		}
	return { wakes, hidden };
}

function drawWake(context: CanvasRenderingContext2D, scene: Scene, wake: Wake): void {
	const x = Math.round(scene.xOf(wake.time_ns)) + 0.5, from = scene.middleOf(wake.from), to = scene.middleOf(wake.to), down = to > from ? 1 : -1;

	context.beginPath();
	context.moveTo(x, from);
	context.lineTo(x, to);
	context.stroke();
	context.beginPath();
	context.moveTo(x, to);
	context.lineTo(x - 3.5, to - 7 * down);
	context.lineTo(x + 3.5, to - 7 * down);
	context.fill();
	context.beginPath();
	context.arc(x, from, 2, 0, 2 * Math.PI);
	context.fill();
}

/** Evenly chosen where there are too many. */
export function thinned<T>(all: T[], most: number): T[] {
	return all.length <= most ? all : Array.from({ length: most }, (_, i) => all[Math.floor(i * all.length / most)]);
}

function drawWakes(context: CanvasRenderingContext2D, scene: Scene, known: Known[]): string[] {
	const { wakes, hidden } = wakesOf(scene, known), drawn = thinned(wakes, WAKES_MAX), said: string[] = [];

	scene.wakes = drawn;
	context.strokeStyle = context.fillStyle = colour("accent");
	context.lineWidth = 1.2;
	for (const wake of drawn)
		drawWake(context, scene, wake);
	context.lineWidth = 1;
	if (drawn.length < wakes.length)
		said.push(`${plural(drawn.length, "wake-up")} of ${wakes.length} are drawn: zoom in for all`);
	if (hidden)
		said.push(`${plural(hidden, "wake-up")} by threads that have no lane here are not drawn`);
	return said;
}

function drawMarks(context: CanvasRenderingContext2D, scene: Scene, marks: MarkStore): string[] {
	const rows = [...scene.session.layout.pinned, ...scene.seen].filter(row => row.lane.kind === "thread");

	marks.want(scene.view, rows.map(row => row.lane.id));
	context.fillStyle = colour("fg");
	context.strokeStyle = colour("bg");
	for (const row of rows) {
		const y = scene.middleOf(row);
		let before = -1;
		for (const { time_ns } of marks.byLane.get(row.lane.id) ?? []) {
			const x = Math.round(scene.xOf(time_ns));
			if (x === before || x < 0 || x > scene.width)	// where several would lie on each other, one is drawn
				continue;
			before = x;
			context.beginPath();
			context.arc(x, y, MARK_PX, 0, 2 * Math.PI);
			context.fill();
			context.stroke();
		}
	}
	return marks.leftOut ? [`${plural(marks.leftOut, "event")} of the programs' own are not drawn: zoom in for all`]
		: marks.isUnread ? ["There may be more events of the programs' own: zoom in for all"] : [];
}

function drawWords(context: CanvasRenderingContext2D, scene: Scene, known: Known[]): void {
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
			if (context.measureText(words).width > width - 8)
				continue;
			context.fillStyle = inkOn(colours.pixel[slice.share]);
			context.fillText(words, left + 4, scene.middleOf(row) + 0.5);
		}
	}
}

/** Black or white, whichever can be read on it. */
function inkOn(pixel: number): string {
	const light = [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255].map(byte => (byte / 255) ** 2.2);

	return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.2 ? "#000000" : "#ffffff";
}

function drawSelection(context: CanvasRenderingContext2D, scene: Scene): void {
	const range = scene.dragged ?? getRange();

	if (!range)
		return;
	const left = scene.xOf(range.from_ns), right = scene.xOf(range.to_ns);
	context.fillStyle = context.strokeStyle = colour("accent");
	context.globalAlpha = 0.14;
	context.fillRect(left, OVERVIEW_PX, right - left, scene.height);
	context.globalAlpha = 0.5;
	context.fillRect(left, OVERVIEW_PX, Math.max(1, right - left), 4);
	context.globalAlpha = 1;
	context.beginPath();
	for (const x of [left, right]) {
		context.moveTo(Math.round(x) + 0.5, OVERVIEW_PX);
		context.lineTo(Math.round(x) + 0.5, scene.height);
	}
	context.stroke();
}

function drawFocus(context: CanvasRenderingContext2D, scene: Scene): void {
	const { session } = scene, { focus, slice, cursor_ns } = session.store.state, row = focus === null ? undefined : session.layout.byLane.get(focus);

	context.strokeStyle = colour("fg");
	if (row) {
		const top = scene.topOf(row);
		context.globalAlpha = 0.5;
		context.strokeRect(-2, top - 1.5, scene.width + 4, row.height);
		context.globalAlpha = 1;
	}
	const at = slice && session.layout.byLane.get(slice.lane);
	const found = at && sliceAround(session.tiles, session.trace, slice.lane, levelOf(scene), slice.time_ns, scene.view);
	if (at && found) {
		const left = scene.xOf(found.begin_ns), right = scene.xOf(found.end_ns);
		context.lineWidth = 2;
		context.strokeRect(left, scene.topOf(at) - 1, Math.max(2, right - left), at.height - GAP_PX + 2);
		context.lineWidth = 1;
	}
	if (cursor_ns !== null) {
		const x = Math.round(scene.xOf(cursor_ns)) + 0.5;
		context.setLineDash([3, 3]);
		context.beginPath();
		context.moveTo(x, CURVES_Y);
		context.lineTo(x, scene.height);
		context.stroke();
		context.setLineDash([]);
	}
}

/** Returns what is left out, in words. */
export function drawOverlays(context: CanvasRenderingContext2D, scene: Scene, marks: MarkStore): string {
	const { hidden } = scene.session.store.state, known = knownSlices(scene), said: string[] = [];

	scene.wakes = [];
	context.save();
	context.beginPath();
	context.rect(0, scene.headPx, scene.width, scene.height - scene.headPx);
	context.clip();
	drawWords(context, scene, known ?? []);
	if (!hidden.has("wakes"))
		said.push(...(known ? drawWakes(context, scene, known) : ["Wake-ups are too close to each other here: zoom in"]));
	if (!hidden.has("marks"))
		said.push(...drawMarks(context, scene, marks));
	context.restore();
	context.save();
	drawSelection(context, scene);
	context.beginPath();
	context.rect(0, OVERVIEW_PX, scene.width, scene.height - OVERVIEW_PX);
	context.clip();
	drawFocus(context, scene);
	context.restore();
	return said.join(". ");
}
