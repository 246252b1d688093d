// SPDX-License-Identifier: GPL-2.0-or-later
// What is seen, or selected, as files: the picture as it is drawn, and how the lanes spent the time, as the server says it.
import { useState } from "preact/hooks";
import { type Cell, csvText } from "../csv";
import type { Drawer } from "./draw";
import { titleOf } from "./lanes";
import { partsOf } from "./part_query";
import { isAborted } from "./server";
import type { Session } from "./session";
import { stretchOfLanes } from "./stretches";
import type { Lane, Stretch } from "./trace";

const LABELS_PX = 220;

export function download(name: string, content: Blob): void {
	const url = URL.createObjectURL(content), link = document.createElement("a");

	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function fileName(session: Session, ending: string): string {
	return `${(session.trace.name.split("/").pop() || "trace").replace(/[^\w.-]+/g, "_")}.${ending}`;
}

function pictureOf(drawer: Drawer): Promise<Blob> {
	const { width, height, ratio } = drawer.scene, canvas = document.createElement("canvas"), context = canvas.getContext("2d")!;

	canvas.width = Math.round((LABELS_PX + width) * ratio);
	canvas.height = Math.round(height * ratio);
	context.scale(ratio, ratio);
	drawer.drawLabels(context, LABELS_PX);
	context.drawImage(drawer.canvas, LABELS_PX, 0, width, height);
	return new Promise((resolve, reject) => canvas.toBlob(blob => blob ? resolve(blob) : reject(new Error("the picture is too large")), "image/png"));
}

/** What is counted: the lanes of the selection, or all that are shown. */
function lanesOf(session: Session): Lane[] {
	const { boxed } = session.store.state, { pinned, rows } = session.layout;
	const shown = [...new Set([...pinned, ...rows].map(row => row.lane))];

	return (boxed.length ? shown.filter(lane => boxed.includes(lane.id)) : shown).filter(lane => lane.kind !== "cpu");
}

function stretchOf(session: Session): Promise<Stretch> {
	return stretchOfLanes(session.server, session.store.selection ?? session.view, lanesOf(session).map(lane => lane.id), partsOf(session.store.state.filters));
}

function named(session: Session, { from_ns, to_ns, lanes }: Stretch) {
	return { trace: session.trace.name, from_ns, to_ns, filters: session.store.state.filters, states: session.trace.shares, lanes: lanes.map(({ lane, ns }) => {
		const { kind, name, tid, pid, thread, threads } = session.trace.lanes[lane];
		return { kind, name, tid, pid, thread, threads, ns };
	}) };
}

function csvOf(session: Session, { from_ns, to_ns, lanes }: Stretch): string {
	const { shares } = session.trace, chosen = session.chosenShares;
	const used = shares.map((_, share) => share).filter(share => chosen === null || chosen >>> share & 1).filter(share => lanes.some(({ ns }) => ns[share]));

	return csvText({
		titles: ["kind", "lane", "tid", "pid", "thread", "from_ns", "to_ns", ...used.map(share => `${shares[share]}_ns`)],
		rows: lanes.map(({ lane, ns }): Cell[] => {
			const one = session.trace.lanes[lane];
			return [one.kind, titleOf(one), one.tid, one.pid, one.thread, from_ns, to_ns, ...used.map(share => ns[share] ?? 0)];
		}),
	});
}

export function Save({ session, drawer }: { session: Session; drawer: () => Drawer | null }) {
	const [error, setError] = useState("");
	const save = (ending: string, make: () => Promise<Blob>) => {
		setError("");
		make().then(blob => download(fileName(session, ending), blob), failed => isAborted(failed) || setError(`It cannot be saved: ${failed.message ?? failed}`));
	};
	const kinds: [string, string, () => Promise<Blob>][] = [
		["PNG", "The picture as it is seen", () => pictureOf(drawer()!)],
		["SVG", "The picture as it is seen, to be drawn at any size", async () => new Blob([drawer()!.toSvg(LABELS_PX)], { type: "image/svg+xml" })],
		["CSV", "How the selected lanes spent the selected time, or else those that are seen: a row for each lane, ns", async () => new Blob([csvOf(session, await stretchOf(session))], { type: "text/csv" })],
		["JSON", "The same, for programs", async () => new Blob([JSON.stringify(named(session, await stretchOf(session)), null, "\t") + "\n"], { type: "application/json" })],
	];

	return <div class="choices save" role="group" aria-label="Save what is seen">
		<span class="muted">Save</span>
		{kinds.map(([title, tip, make]) => <button type="button" key={title} data-tip={tip} onClick={() => save(title.toLowerCase(), make)}>{title}</button>)}
		{error && <span role="alert">{error}</span>}
	</div>;
}
