// SPDX-License-Identifier: GPL-2.0-or-later
// What tooltips and the reader of the screen say of what is at a place of the picture.
import { duration, plural, shareOf, visible } from "../format";
import { stateTitle } from "../states";
import { type Activity, LEVELS } from "./activities";
import { BAR_PX, barTop } from "./activity_overlays";
import { type FoundSlice, sharesIn, sliceAround } from "./find";
import { type Row, titleOf } from "./lanes";
import type { MarkStore } from "./marks";
import { exactly, moment } from "./moment";
import { tellNotes } from "./note_overlay";
import { levelOf } from "./overlays";
import { stateOf } from "./palette";
import { passesEvent } from "./part_query";
import type { Scene } from "./scene";
import type { Session } from "./session";
import type { Lane, Trace } from "./trace";

const NEAR_PX = 5, STATES_TOLD = 8, MARKS_TOLD = 5;

export function threadWords(session: Session, thread: number): string {
	const words = session.trace.threadWords?.get(thread), lane = session.lane(session.tree.laneOfThread.get(thread) ?? null);

	if (session.trace.threadWords)
		return words ?? `thread number ${thread}`;

	return lane ? titleOf(lane) : `thread number ${thread}`;
}

/** Of a thread or a CPU at a time. */
export function sliceWords(session: Session, lane: Lane, slice: FoundSlice): string[] {
	const state = stateOf(session.trace, lane, slice.share);
	const lines = [lane.kind === "cpu" ? state === "running" ? threadWords(session, slice.who) : state === "other" ? `another program, tid ${slice.who}` : "idle" : stateTitle(state)];

	lines.push(`${slice.isCutBegin || slice.isCutEnd ? "at least " : ""}${duration(slice.end_ns - slice.begin_ns)}, since ${exactly(slice.begin_ns)}`);
	if (lane.kind !== "cpu" && slice.who)
		lines.push(`woken by ${threadWords(session, slice.who)}`);
	return lines;
}

function columnWords(session: Session, lane: Lane, shares: Map<number, number>, width_ns: number): string[] {
	const threads = lane.threads, told = [...shares].sort((a, b) => b[1] - a[1]);

	return told.slice(0, STATES_TOLD).map(([share, ns]) => `${stateTitle(stateOf(session.trace, lane, share))}: ${shareOf(ns, threads * width_ns)}` +
		`, ${threads > 1 ? `${(ns / width_ns).toFixed(2)} threads` : duration(ns)}`);
}

function laneWords(row: Row): string {
	const { lane } = row;

	if (lane.title !== undefined)
		return lane.title;
	return lane.kind === "thread" ? `${row.title} of process ${lane.pid}` : lane.kind === "process" || lane.kind === "host"
		? `${row.title}, ${plural(lane.threads, "thread")}` : row.title;
}

export function tellLane(row: Row, trace: Trace): string {
	if (trace.isOfExecutions)
		return row.title;
	const { ns, lost_ns, threads, begin_ns, end_ns } = row.lane, sum = ns.reduce((all, one) => all + one, 0);
	const states = ns.map((n, share): [string, number] => [trace.shares[share], n]).filter(([, n]) => n).sort((a, b) => b[1] - a[1]).slice(0, STATES_TOLD);
	const life = row.lane.kind === "thread" && (begin_ns > trace.begin_ns || end_ns < trace.whole_ns) ? [`lived from ${moment(begin_ns, 1e3)} to ${moment(end_ns, 1e3)}`] : [];

	return [laneWords(row) + (row.lane.is_idle ? ", idle" : ""), ...life, ...states.map(([state, n]) => `${stateTitle(state)}: ${duration(n)}, ${shareOf(n, sum)}`),
		...(row.lane.kind === "cpu" ? [] : [`lost: ${duration(lost_ns)}${threads > 1 ? ` of ${plural(threads, "thread")}` : ""}`])].join("\n");
}

function tellOverview(scene: Scene, x: number): string {
	const { from_ns, to_ns } = scene.whole;

	const what = scene.session.trace.isOfExecutions ? "All executions together" : `The whole trace${scene.session.filteredThreads ? ", of the chosen threads" : ""}`;

	return `${what}, ${duration(to_ns - from_ns)}\nat ${moment(scene.wholeTimeAt(x), (to_ns - from_ns) / scene.width, to_ns)}\ndrag to move what is seen`;
}

function addTo(sums: Map<number, number>, more: Map<number, number>): void {
	for (const [share, ns] of more)
		sums.set(share, (sums.get(share) ?? 0) + ns);
}

function tellCurve(scene: Scene, x: number, y: number): string {
	const { session } = scene, from_ns = scene.timeAt(x), to_ns = scene.timeAt(x + 1), shares = new Map<number, number>(), curve = scene.curveAt(y);
	const threads = (ns: number) => `${(ns / (to_ns - from_ns)).toFixed(2)} threads`, chosen = new Map<number, number>();

	for (const lane of session.lookedAt) {
		addTo(shares, sharesIn(session.tiles, lane.id, levelOf(scene), { from_ns, to_ns }));
		if (session.isOfParts)
			addTo(chosen, sharesIn(session.chosenTiles ?? session.tiles, lane.id, levelOf(scene), { from_ns, to_ns }));
	}
	const lines = [...shares].sort((a, b) => b[1] - a[1]).slice(0, STATES_TOLD)
		.map(([share, ns]) => `${stateTitle(session.trace.shares[share] ?? "unknown")}: ${threads(ns)}`);
	const sum = (of: Map<number, number>, bits: number | null) => threads(curve!.shares.reduce((all, share) => all + (bits === null || bits >>> share & 1 ? of.get(share) ?? 0 : 0), 0));
	const own = curve ? [`${curve.about}: ${sum(shares, null)}`, ...session.isOfParts ? [`of it chosen: ${sum(chosen, session.chosenShares)}`] : []] : [];
	return [...own, `Threads at ${moment(from_ns, to_ns - from_ns, scene.view.to_ns)}`, ...lines].join("\n");
}

function tellWakes(scene: Scene, x: number, y: number): string[] {
	const { session } = scene;

	return scene.wakes.filter(wake => {
		const ends = [scene.middleOf(wake.from), scene.middleOf(wake.to)].sort((a, b) => a - b);
		return Math.abs(scene.xOf(wake.time_ns) - x) <= 3 && y >= ends[0] - 3 && y <= ends[1] + 3;
	}).slice(0, 3).map(wake => `${titleOf(session.trace.lanes[wake.waker])} woke ${titleOf(session.trace.lanes[wake.woken])} at ${exactly(wake.time_ns)}`);
}

function tellMarks(scene: Scene, marks: MarkStore, lane: Lane, x: number): string[] {
	const { hidden } = scene.session, { filters } = scene.session.store.state;
	const all = hidden.has("marks") ? [] : (marks.byLane.get(lane.id) ?? []).filter(({ name }) => passesEvent(filters, name.slice(0, Math.max(0, name.lastIndexOf("."))), name.slice(name.lastIndexOf(".") + 1)));
	const near = all.filter(mark => Math.abs(scene.xOf(mark.time_ns) - x) <= NEAR_PX);
	const lines = near.slice(0, MARKS_TOLD).map(mark => `\u25cf ${visible(mark.name)} ${mark.argument} at ${exactly(mark.time_ns)}`);

	return near.length > MARKS_TOLD ? [...lines, `and ${plural(near.length - MARKS_TOLD, "more event")}`] : lines;
}

/** Bars and messages there. */
function tellActivities(scene: Scene, row: Row, x: number, y: number): string[] {
	const { activities, messages, session } = scene, { hidden } = session, told = ({ name, begin_ns, end_ns, words }: Activity) =>
		`${visible(name)}, ${duration(end_ns - begin_ns)} since ${exactly(begin_ns)}${words ? `, ${visible(words)}` : ""}`;
	const bars = hidden.has("activities") ? [] : (activities.byLane.get(row.lane.id) ?? []).filter(({ begin_ns, end_ns, level }) => level < LEVELS
		&& scene.xOf(begin_ns) <= x + 1 && scene.xOf(end_ns) >= x - 1 && y >= barTop(scene, row, level) && y < barTop(scene, row, level) + BAR_PX);
	const lanes = session.trace.lanes, sent = messages.filter(({ activity, from, to }) => distance([x, y], [scene.xOf(activity.begin_ns), scene.middleOf(from)],
		[scene.xOf(activity.end_ns), scene.middleOf(to)]) <= NEAR_PX).slice(0, MARKS_TOLD);

	return [...bars.map(told), ...sent.map(({ activity }) => `\u2192 ${titleOf(lanes[activity.lane])} to ${titleOf(lanes[activity.end_lane])}: ${told(activity)}`)];
}

/** Of a place from a line. */
function distance([x, y]: number[], [x0, y0]: number[], [x1, y1]: number[]): number {
	const along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / Math.max(1e-9, (x1 - x0) ** 2 + (y1 - y0) ** 2), part = Math.max(0, Math.min(1, along));

	return Math.hypot(x - x0 - part * (x1 - x0), y - y0 - part * (y1 - y0));
}

function tellGaps(scene: Scene, x: number): string[] {
	return scene.session.trace.gaps.filter(gap => scene.xOf(gap.begin_ns) <= x + 2 && scene.xOf(gap.end_ns) >= x - 2)
		.map(gap => `records were lost from ${exactly(gap.begin_ns)} to ${exactly(gap.end_ns)}: what is hatched is not known`);
}

/** Null: there is nothing. */
export function tellAt(scene: Scene, marks: MarkStore, x: number, y: number): string | null {
	const { session } = scene, row = scene.rowAt(y);

	switch (scene.areaAt(y)) {
	case "overview": return tellOverview(scene, x);
	case "axis": return [...tellNotes(scene, x, y), exactly(scene.timeAt(x)), ...tellGaps(scene, x), "drag to select a stretch of time"].join("\n");
	case "curve": return tellCurve(scene, x, y);
	}
	if (!row)
		return null;
	const from_ns = scene.timeAt(Math.floor(x)), to_ns = scene.timeAt(Math.floor(x) + 1), shift = levelOf(scene);
	const shares = sharesIn(session.tiles, row.lane.id, shift, { from_ns, to_ns });
	const slice = shares.size <= 1 ? sliceAround(session.tiles, session.trace, row.lane.id, shift, scene.timeAt(x), scene.view) : null;
	const words = slice ? sliceWords(session, row.lane, slice)
		: [`${moment(from_ns, (to_ns - from_ns) / 10, scene.view.to_ns)}, ${duration(to_ns - from_ns)} long`, ...columnWords(session, row.lane, shares, to_ns - from_ns)];

	const parts = session.chosenTiles && sharesIn(session.chosenTiles, row.lane.id, shift, { from_ns, to_ns });
	const chosen = parts ? [`of it chosen: ${duration([...parts.values()].reduce((sum, ns) => sum + ns, 0))}`] : [];

	return [laneWords(row), ...tellNotes(scene, x, y), ...tellActivities(scene, row, x, y), ...words, ...chosen, ...tellMarks(scene, marks, row.lane, x), ...tellWakes(scene, x, y)].join("\n");
}
