// SPDX-License-Identifier: GPL-2.0-or-later
// Activities as bars at the bottom of their lanes, messages as arrows from who sent to who received.
import { plural } from "../format";
import { colour } from "../theme";
import { type Activity, LEVELS } from "./activities";
import type { Row } from "./lanes";
import { passesMessage } from "./part_query";
import type { Pen } from "./pen";
import { GAP_PX, type Scene } from "./scene";

export const BAR_PX = 5;
const MESSAGES_MAX = 300, COLOURS = 8, HEAD_PX = 7;

export interface Message {
	activity: Activity;
	from: Row;
	to: Row;
}

/** The top of a bar. */
export function barTop(scene: Scene, row: Row, level: number): number {
	return scene.topOf(row) + row.height - GAP_PX - BAR_PX * (level + 1);
}

interface Bar {
	left: number;
	top: number;
	width: number;
}

/** Adds the bars of a lane, by colour. Returns how many lie too deep in others. */
function addBars(scene: Scene, row: Row, bars: Activity[], out: Bar[][]): number {
	const end: number[] = Array(LEVELS).fill(-1);
	let hidden = 0;

	for (const { begin_ns, end_ns, level, number } of bars) {
		const left = Math.max(-1, scene.xOf(begin_ns)), right = Math.min(scene.width + 1, scene.xOf(end_ns));
		if (right < 0 || left > scene.width)
			continue;
		if (level >= LEVELS) {
			hidden++;
			continue;
		}
		if (right <= end[level])		// it lies within a pixel of another one
			continue;
		end[level] = Math.max(left + 1, right);
		out[number % COLOURS].push({ left, top: barTop(scene, row, level), width: Math.max(1, right - left) });
	}
	return hidden;
}

/** All of one colour in one go, which is quicker than one by one. */
function drawBars(pen: Pen, bars: Bar[], fill: string): void {
	pen.fillStyle = fill;
	pen.beginPath();
	for (const { left, top, width } of bars)
		pen.rect(left, top, width, BAR_PX);
	pen.fill();
	pen.beginPath();
	for (const { left, top, width } of bars)
		if (width > 3)
			pen.rect(left + 0.5, top + 0.5, width - 1, BAR_PX - 1);
	pen.stroke();
}

export function drawActivities(pen: Pen, scene: Scene, rows: Row[]): string[] {
	const { activities } = scene, bars: Bar[][] = Array.from({ length: COLOURS }, () => []);
	const hidden = rows.reduce((sum, row) => sum + addBars(scene, row, activities.byLane.get(row.lane.id) ?? [], bars), 0);

	pen.strokeStyle = colour("fg");
	pen.lineWidth = 0.6;
	bars.forEach((list, i) => list.length && drawBars(pen, list, colour(`k-${i}`)));
	pen.lineWidth = 1;
	return [...hidden ? [`${plural(hidden, "activity", "activities")} that lie in others are not drawn`] : [],
		...activities.leftOut ? [`${plural(activities.leftOut, "activity", "activities")}, none longer than these, are not drawn: zoom in for all`] : [],
		...activities.unreadFrom_ns !== null && activities.unreadFrom_ns < scene.view.to_ns ? ["Activities are still being looked for"] : []];
}

function drawMessage(pen: Pen, scene: Scene, { activity, from, to }: Message): void {
	const x = [scene.xOf(activity.begin_ns), scene.xOf(activity.end_ns)], y = [scene.middleOf(from), scene.middleOf(to)];
	const angle = Math.atan2(y[1] - y[0], x[1] - x[0]);

	pen.beginPath();
	pen.moveTo(x[0], y[0]);
	pen.lineTo(x[1], y[1]);
	pen.stroke();
	pen.beginPath();
	pen.moveTo(x[1], y[1]);
	for (const by of [0.45, -0.45])
		pen.lineTo(x[1] - HEAD_PX * Math.cos(angle + by), y[1] - HEAD_PX * Math.sin(angle + by));
	pen.fill();
}

export function drawMessages(pen: Pen, scene: Scene): string[] {
	const { tree, layout } = scene.session, all: Message[] = [];
	const { filters } = scene.session.store.state;
	let hidden = 0;

	for (const activity of scene.activities.messages) {
		if (!passesMessage(filters, activity.name))
			continue;
		const [from, to] = [activity.lane, activity.end_lane].map(lane => lane < 0 ? undefined : tree.shown(lane, layout.byLane));
		if (from && to && from !== to)
			all.push({ activity, from, to });
		else
			hidden++;
	}
	scene.messages = all.slice(0, MESSAGES_MAX);
	pen.strokeStyle = pen.fillStyle = colour("c-condition");
	pen.lineWidth = 1.4;
	for (const message of scene.messages)
		drawMessage(pen, scene, message);
	pen.lineWidth = 1;
	return [...all.length > MESSAGES_MAX ? [`${plural(MESSAGES_MAX, "message")} of ${all.length} are drawn: zoom in for all`] : [],
		...hidden ? [`${plural(hidden, "message")} within a lane or of threads that have none are not drawn`] : []];
}
