// SPDX-License-Identifier: GPL-2.0-or-later
// What the graph of pinch view draws besides states: curves, colours, activities, messages, gaps, notes, and what is saved of it. With a
// server of a trace that was made up. Screenshots stay in $O/web-shots.
import { assert, main, shot, test } from "./browser.mjs";
import { SHARES } from "./made_trace.mjs";
import { address, box, canvas, curveBox, customColour, drawn, end, go, hideOverlays, lane, pixels, settled, stateColours, threadSeen, view } from "./view_page.mjs";

const WORDS_PX = 90;			// the scale of a curve lies there
const CURVES = [["running", "c-running", ["running"]], ["run queue", "c-runnable", ["runnable"]], ["disk", "c-file", ["file"]], ["network", "c-socket", ["socket"]]];

/** How many threads are in some states at a column of the picture, on average, by the states that were made up. */
function threadsAt(trace, states, [from, to]) {
	return trace.lanes.filter(lane => lane.parent < 0 && lane.kind === "host").reduce((all, host) => {
		const sums = trace.sharesIn(host, from, to);
		return all + states.reduce((sum, state) => sum + (sums.get(SHARES.indexOf(state)) ?? 0), 0) / (to - from);
	}, 0);
}

/** Some columns of the picture, and their times. */
async function columnsOf(page, count) {
	const [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number), { width } = await box(page), step = (to - from) / Math.round(width);

	return Array.from({ length: count }, (_, i) => WORDS_PX + Math.floor((i + 0.5) * (width - WORDS_PX) / count)).map(x => ({ x, from: from + x * step, to: from + (x + 1) * step }));
}

test("curves say how many threads run and wait for CPUs, disks and networks; each can be hidden", async () => {
	const page = await view();

	await go(page, "view=300000000~304000000&hide=wakes.marks");
	const columns = await columnsOf(page, 40);
	for (const [title, property, states] of CURVES) {
		const { top, height } = await curveBox(page, title), ink = await customColour(page, property);
		const heights = await Promise.all(columns.map(async ({ x }) => (await pixels(page, x, top + 2, 1, height - 6)).filter(([pixel]) => pixel === ink).length));
		const threads = columns.map(({ from, to }) => threadsAt(page.trace, states, [from, to]));
		const most = Number(new URLSearchParams(await canvas(page).getAttribute("data-scales")).get(title.replace(" ", "-")));
		for (const [i, n] of threads.entries())
			assert(Math.abs(n / most * (height - 6) - heights[i]) <= 1.5, `${title} at ${columns[i].x}: ${heights[i]} pixels for ${n.toFixed(3)} of ${most} threads`);
	}
	await shot(page, "viewer-curves", false);
	const lanesBefore = (await lane(page, await threadSeen(page)).boundingBox()).y;
	await page.getByRole("button", { name: "Network", exact: true }).click();
	await address(page, search => search.get("hide") === "wakes.marks.network");
	await page.locator(".head-label", { hasText: /^network$/ }).waitFor({ state: "detached" });
	await settled(page);
	assert((await lane(page, await threadSeen(page)).boundingBox()).y < lanesBefore, "the lanes do not get the space");
	await end(page);
});

test("colours say the application, or how many share a moment", async () => {
	const page = await view(), process = page.trace.lanes.find(lane => lane.kind === "process").id, ids = page.trace.lanes.filter(lane => lane.kind === "process").map(lane => lane.id);

	await hideOverlays(page);
	const states = await stateColours(page), [columns] = [[200, 400, 600]], share = (pixels, colour) => pixels.filter(pixel => pixel === colour).length;
	const before = await Promise.all(ids.map(id => drawn(page, id, columns)));
	await page.getByRole("button", { name: "by application" }).click();
	await address(page, search => search.get("colour") === "application");
	await settled(page);
	const names = await page.locator(".legend > span:not(.muted)").allInnerTexts();
	for (const [i, id] of ids.entries()) {
		const colour = await customColour(page, `k-${names.indexOf(page.trace.lanes[id].name)}`), now = await drawn(page, id, columns);
		for (const [c, column] of now.entries())
			assert(share(column, colour) === share(before[i][c], states[1]) + share(before[i][c], states[2]) && share(column, colour) > 0, `${share(column, colour)} pixels of ${colour} in lane ${id}`);
	}
	await shot(page, "viewer-application", false);
	await page.getByRole("button", { name: "by weight" }).click();
	await address(page, search => search.get("colour") === "weight");
	await go(page, "view=300000000~304000000&hide=wakes.marks&colour=weight");
	const weights = await Promise.all([0, 1, 2, 3, 4].map(i => customColour(page, `w-${i}`))), seen = new Set();
	for (const { x, from, to } of await columnsOf(page, 60)) {
		const n = threadsAt(page.trace, ["running", "spinning", "runnable"], [from, to]), level = [1, 2, 4, 8, Infinity].findIndex(most => n <= most);
		const [column] = await drawn(page, process, [x]), found = weights.filter(colour => column.includes(colour));
		if ([1, 2, 4, 8].some(most => Math.abs(n - most) < 0.01))
			continue;			// roundings decide
		assert(found.every(colour => colour === weights[level]), `${found} at ${x}, where ${n.toFixed(2)} threads are active`);
		found.forEach(colour => seen.add(colour));
	}
	assert(seen.size > 1, `only ${[...seen]} is seen`);
	await shot(page, "viewer-weight", false);
	await end(page);
});

await main();
