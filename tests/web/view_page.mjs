// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of the viewer share: a page of a trace that was made up, its address, and what is drawn of its lanes.
import { assert, close, open } from "./browser.mjs";
import { MadeTrace, SHARES } from "./made_trace.mjs";
import { ViewServer } from "./view_server.mjs";

const GAP_PX = 3;

/** A page of a trace, once its picture is there; the server ends with it. */
export async function view(options = {}, how = {}, fragment = "") {
	const server = new ViewServer(new MadeTrace(options));
	const page = await open(await server.start() + fragment, how);

	page.server = server;
	page.trace = server.trace;
	await settled(page);
	return page;
}

/** What a page downloads by a button. */
export async function downloaded(page, title) {
	const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: title, exact: true }).click()]);
	const chunks = [];

	for await (const chunk of await download.createReadStream())
		chunks.push(chunk);
	return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

export async function end(page) {
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));	// it is this test that reads
	await close(page);
	await page.server.stop();
}

/** Until all that is to be drawn is there and drawn, and the address says what is seen. */
export async function settled(page) {
	await page.waitForFunction(() => document.querySelector(".graph-canvas canvas")?.dataset.waiting === "0");
	await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	await page.waitForFunction(() => document.querySelector(".graph-canvas canvas").dataset.waiting === "0");
}

export const canvas = page => page.locator(".graph-canvas canvas");
export const lane = (page, id) => page.locator(`.lane-list:not(.is-pinned) .lane[data-lane="${id}"]`);
export const details = page => page.locator(".details");

export async function box(page) {
	return canvas(page).boundingBox();
}

/** What the address says, once it says it. */
export async function address(page, holds = () => true) {
	const limit = Date.now() + 20000;

	for (;;) {
		const search = new URLSearchParams(new URL(page.url()).hash.slice(1));
		if (holds(search))
			return search;
		assert(Date.now() < limit, `the address stays ${page.url()}`);
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
	}
}

export function rangeOf(page, text) {
	return text ? text.split("~").map(Number) : [0, page.trace.whole_ns];
}

/** The time that is seen, by the address. */
export async function seen(page, holds) {
	return rangeOf(page, (await address(page, search => !holds || holds(rangeOf(page, search.get("view"))))).get("view"));
}

/** Opens the same page with another fragment, as one does who edits the address. */
export async function go(page, fragment) {
	await page.evaluate(hash => {
		history.replaceState(history.state, "", "#" + hash);
		dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
	}, fragment);
	await settled(page);
}

export async function hideOverlays(page) {
	for (const name of ["Wake-ups", "Events", "Activities", "Messages"])
		await page.locator(`.graph-box button[aria-pressed=true]`, { hasText: name }).click();
	await settled(page);
}

/** The colours of the states, as the style sheet has them. */
export function stateColours(page) {
	return page.evaluate(shares => shares.map(share => getComputedStyle(document.documentElement).getPropertyValue(`--c-${share === "unknown" ? "idle" : share}`).trim()), SHARES);
}

/** How many pixels of each colour columns of a lane have: what is drawn of it, column by column. */
export function drawn(page, id, columns) {
	return page.evaluate(([id, columns, gap]) => {
		const canvas = document.querySelector(".graph-canvas canvas"), row = document.querySelector(`.lane[data-lane="${id}"]`);
		const top = row.getBoundingClientRect().top - canvas.getBoundingClientRect().top, height = row.getBoundingClientRect().height - gap;
		const { data, width } = canvas.getContext("2d").getImageData(0, Math.round(top), canvas.width, Math.round(height));
		const hex = at => "#" + [0, 1, 2].map(i => data[at + i].toString(16).padStart(2, "0")).join("");
		return columns.map(x => Array.from({ length: Math.round(height) }, (_, y) => hex(4 * (y * width + x))));
	}, [id, columns, GAP_PX]);
}

/** The ns of each share in a stretch of time, as tiles say it: states as they are, or columns, each of which is spread over its width. */
export function sharesTold(trace, one, from, to, shift) {
	if (one.threads === 1 && shift <= 19)
		return trace.sharesIn(one, from, to);
	const sums = new Map(), size = 2 ** shift, first = Math.floor((from - trace.origin_ns) / size);
	for (let begin = trace.origin_ns + first * size; begin < to; begin += size)
		for (const [share, ns] of trace.sharesIn(one, begin, begin + size))
			sums.set(share, (sums.get(share) ?? 0) + ns * (Math.min(to, begin + size) - Math.max(from, begin)) / size);
	return sums;
}

/** Compares what is drawn of a lane with the states that were made up. */
export async function compareLane(page, id, colours) {
	const { width } = await box(page), [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number), one = page.trace.lanes[id], step = (to - from) / width, shift = Math.floor(Math.log2(step));
	const columns = Array.from({ length: 40 }, (_, i) => Math.floor((i + 0.5) * width / 40)), found = await drawn(page, id, columns);

	for (const [i, x] of columns.entries()) {
		const sums = sharesTold(page.trace, one, from + x * step, from + (x + 1) * step, Math.max(8, shift)), height = found[i].length;
		const isOne = sums.size === 1 && one.kind === "thread";		// words may lie on it
		for (const [share, colour] of colours.entries()) {
			const wanted = (sums.get(share) ?? 0) / (step * one.threads) * height, has = found[i].filter(pixel => pixel === colour).length;
			assert(isOne ? found[i][0] === colours[[...sums.keys()][0]] : Math.abs(wanted - has) <= 1,
				`lane ${id} at ${x}: ${has} pixels of ${SHARES[share]}, not ${wanted.toFixed(2)} of ${height}`);
		}
	}
}

/** A thread whose lane is in view. */
export async function threadSeen(page) {
	return Number(await page.locator(".lane.is-thread:not(.is-idle)").first().getAttribute("data-lane"));
}

/** How high what stands above the lanes is. */
export function headHeight(page) {
	return page.evaluate(() => document.querySelector(".lane-list").getBoundingClientRect().top - document.querySelector(".graph-canvas canvas").getBoundingClientRect().top
		- document.querySelector(".lane-list.is-pinned").getBoundingClientRect().height);
}

/** A place of the canvas that a curve lies at. */
export async function curveBox(page, title) {
	const label = await page.locator(".head-label", { hasText: new RegExp(`^${title}$`) }).boundingBox(), area = await box(page);

	return { top: Math.round(label.y - area.y), height: Math.round(label.height) };
}

/** The colours of pixels of the canvas, as rows of columns. */
export function pixels(page, x, y, width, height) {
	return page.evaluate(([x, y, width, height]) => {
		const { data } = document.querySelector(".graph-canvas canvas").getContext("2d").getImageData(x, y, width, height);
		return Array.from({ length: height }, (_, row) => Array.from({ length: width }, (_, column) => {
			const at = 4 * (row * width + column);
			return "#" + [0, 1, 2].map(i => data[at + i].toString(16).padStart(2, "0")).join("");
		}));
	}, [x, y, width, height].map(Math.round));
}

export function customColour(page, name) {
	return page.evaluate(name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(), name);
}
