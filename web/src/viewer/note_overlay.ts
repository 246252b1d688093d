// SPDX-License-Identifier: GPL-2.0-or-later
// Notes in the picture: a flag on the axis, or in the lane that a note is of.
import { visible } from "../format";
import { colour } from "../theme";
import type { Note } from "./notes";
import type { Pen } from "./pen";
import { CURVES_Y, GAP_PX, OVERVIEW_PX, type Scene } from "./scene";

const FLAG_PX = 8, NEAR_PX = 6, WORDS_MAX = 40;

/** Where its flag is; null: its lane is not in view. */
function flagTop(scene: Scene, note: Note): { top: number; height: number } | null {
	if (note.lane === null)
		return { top: OVERVIEW_PX + 2, height: scene.height - OVERVIEW_PX - 2 };
	const row = scene.session.layout.byLane.get(note.lane), top = row ? scene.topOf(row) : -1;

	return row && top >= scene.headPx - row.height ? { top, height: row.height - GAP_PX } : null;
}

export function drawNotes(pen: Pen, scene: Scene): void {
	for (const note of scene.session.store.state.notes) {
		const at = flagTop(scene, note), x = Math.round(scene.xOf(note.time_ns)) + 0.5;
		if (!at || x < 0 || x > scene.width)
			continue;
		pen.strokeStyle = pen.fillStyle = colour("k-4");
		pen.beginPath();
		pen.moveTo(x, at.top);
		pen.lineTo(x, at.top + at.height);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(x, at.top);
		pen.lineTo(x + FLAG_PX, at.top + FLAG_PX / 2);
		pen.lineTo(x, at.top + FLAG_PX);
		pen.fill();
		drawText(pen, note, x + FLAG_PX + 2, at.top + FLAG_PX / 2 + 1);
	}
}

function drawText(pen: Pen, note: Note, x: number, y: number): void {
	const words = visible(note.text).slice(0, WORDS_MAX);

	if (!words)
		return;
	pen.fillStyle = colour("at");
	pen.fillRect(x - 1, y - 7, pen.measureText(words).width + 4, 14);
	pen.fillStyle = colour("fg");
	pen.fillText(words, x + 1, y);
}

/** What notes near a place say. */
export function tellNotes(scene: Scene, x: number, y: number): string[] {
	return scene.session.store.state.notes.filter(note => {
		const at = flagTop(scene, note);
		return at && Math.abs(scene.xOf(note.time_ns) - x) <= NEAR_PX && (note.lane === null ? y < CURVES_Y : y >= at.top && y <= at.top + at.height);
	}).map(note => `\u2691 ${visible(note.text) || "a note"}`);
}
