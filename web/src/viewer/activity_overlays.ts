// SPDX-License-Identifier: GPL-2.0-or-later
// Activities as bars at the bottom of their lanes, messages as arrows from who sent to who received.
import { plural } from "../format";
import { colour } from "../theme";
import { type Activity, LEVELS } from "./activities";
import type { Row } from "./lanes";
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

function drawBars(pen: Pen, scene: Scene, row: Row, bars: Activity[]): number {
	const end: number[] = Array(LEVELS).fill(-1);
	let hidden = 0;

	for (const bar of bars) {
		const left = Math.max(-1, scene.xOf(bar.begin_ns)), right = Math.min(scene.width + 1, scene.xOf(bar.end_ns)), { level } = bar;
		if (right < 0 || left > scene.width)
			continue;
		if (level >= LEVELS) {
			hidden++;
			continue;
		}
		if (right <= end[level])		// it lies within a pixel of another one
			continue;
		end[level] = Math.max(left + 1, right);
		pen.fillStyle = colour(`k-${bar.number % COLOURS}`);
		pen.fillRect(left, barTop(scene, row, level), Math.max(1, right - left), BAR_PX);
		if (right - left > 3)
			pen.strokeRect(left + 0.5, barTop(scene, row, level) + 0.5, right - left - 1, BAR_PX - 1);
	}
	return hidden;
}

export function drawActivities(pen: Pen, scene: Scene, rows: Row[]): string[] {
	const { activities } = scene;
	let hidden = 0;

	pen.strokeStyle = colour("fg");
	pen.lineWidth = 0.6;
	for (const row of rows)
		hidden += drawBars(pen, scene, row, activities.byLane.get(row.lane.id) ?? []);
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
	let hidden = 0;

	for (const activity of scene.activities.messages) {
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
