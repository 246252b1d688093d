// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view of groups of executions, in a browser: both graphs aligned where executions begin, and what is said of them. A trace is recorded for it.
// Screenshots stay in $O/web-shots.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { assert, BUILD, close, directory, faults, main, open, shot, test } from "./browser.mjs";
import { address } from "./view_page.mjs";
import { record, serve, stop } from "./view_process.mjs";

const SPAN = "request=recvfrom(fd=socket)..sendto";

/** Requests of three threads, of which each tenth waits for a lock. */
function recorded() {
	if (!existsSync(join(directory, "t.pinch")))
		record("t.pinch", ["--span", SPAN], [join(BUILD, "programs/span_server")]);
	return "t.pinch";
}

async function view(words = ["--compare"], how = {}) {
	const { child, link } = await serve([recorded(), ...words]), page = await open(link, { isReady: false, ...how });

	page.server = child;
	await settled(page, words.length ? 2 : 1);
	return page;
}

async function settled(page, graphs = 2) {
	const isDrawn = graphs => [...document.querySelectorAll(".graph-canvas canvas")].filter(canvas => canvas.dataset.waiting === "0").length === graphs;

	await page.waitForFunction(isDrawn, graphs);
	await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	await page.waitForFunction(isDrawn, graphs);
}

async function end(page) {
	await close(page);
	await stop(page.server);
}

const graph = (page, side) => page.locator(`.side-${side} .graph-canvas canvas`);
const viewOf = async (page, side) => (await graph(page, side).getAttribute("data-view")).split("~").map(Number);
const json = (page, path) => page.evaluate(path => fetch(path).then(response => response.json()), path);
const lengthsOf = (listed, group) => listed.lengths_ns.filter((_, i) => listed.groups[i] === group);

/** Clicks the first execution of a side, at a part of the picture's width. */
async function clickFirst(page, side, part) {
	const row = await page.locator(`.side-${side} .lane.is-thread`).first().boundingBox(), box = await graph(page, side).boundingBox();

	await page.mouse.click(box.x + part * box.width, row.y + row.height / 2);
}

test("the fastest group is above the slowest, each with a row for each execution, from their beginnings to the longest one's end", async () => {
	const page = await view(), listed = await json(page, "/executions/list"), longest_ns = Math.max(...lengthsOf(listed, 1), ...lengthsOf(listed, listed.count));

	for (const [side, group] of [["a", 1], ["b", listed.count]]) {
		const lengths = lengthsOf(listed, group);
		assert(String(await viewOf(page, side)) === `0,${longest_ns}`, `${side} shows ${await viewOf(page, side)} of ${longest_ns}`);
		assert(new RegExp(`\\b${lengths.length}\\sexecution`).test(await page.locator(`.side-${side} h2`).innerText()), `${side} does not say how many there are`);
		assert(await page.locator(`.side-${side} .head-label`, { hasText: lengths.length > 1 ? `${lengths.length + 1} lanes` : "1 lane" }).count() === 1, `${side} has other rows`);
	}
	const sums = page.locator("#sums tr[data-state=lock] td[data-ns]");
	await sums.first().waitFor();
	const means = (await sums.evaluateAll(cells => cells.map(cell => Number(cell.dataset.ns)))), shares = (await json(page, "/trace")).shares;
	for (const [side, group] of [[0, 1], [1, listed.count]])
		assert(Math.abs(means[side] - listed.sums[group][shares.indexOf("lock")] / lengthsOf(listed, group).length) < 1, `the mean of group ${group} is ${means[side]}`);
	const errors = await sums.evaluateAll(cells => cells.map(cell => Number(cell.dataset.error))), p = Number(await page.locator("#sums tr[data-state=lock] td[data-p]").getAttribute("data-p"));
	assert(errors[1] > 0 && p > 0 && p < 0.05, `the lock differs by ${errors}, by chance with ${p}`);
	const rows = await page.locator("#sums tr[data-threads] td:nth-child(2), #sums tr[data-threads] td:nth-child(3)").allInnerTexts(), sum = rows.reduce((all, n) => all + Number(n), 0);
	assert(sum === lengthsOf(listed, 1).length + lengthsOf(listed, listed.count).length, `threads have ${rows} executions`);
	await shot(page, "executions");
	await end(page);
});

test("zoom, selection and a filter of states hold for both; while a time is dragged, both show it; the link opens the same", async () => {
	const page = await view(), box = await graph(page, "b").boundingBox();

	await page.mouse.move(box.x + box.width / 2, box.y + 90);
	await page.mouse.wheel(0, -300);
	await page.waitForFunction(() => !document.querySelector(".side-a canvas").dataset.view.startsWith("0~"));
	await settled(page);
	assert(String(await viewOf(page, "a")) === String(await viewOf(page, "b")), "both show another time");
	const pixels = () => graph(page, "a").evaluate(canvas => [0.3, 0.9].map(part => [...canvas.getContext("2d").getImageData(Math.round(part * canvas.width), 30 * devicePixelRatio, 1, 1).data].join()));
	const before = await pixels();
	await page.mouse.move(box.x + 0.2 * box.width, box.y + 38);
	await page.mouse.down();
	await page.mouse.move(box.x + 0.5 * box.width, box.y + 38, { steps: 3 });
	await page.waitForFunction(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))));
	const during = await pixels();
	assert(during[0] !== before[0] && during[1] === before[1], `A shows ${during}, and before ${before}`);
	await page.mouse.up();
	await address(page, search => search.get("sel"));
	await page.locator("#sums p", { hasText: "since its beginning" }).waitFor();
	await page.getByRole("group", { name: "States" }).getByRole("button", { name: "running" }).click();
	await address(page, search => search.get("cause") === "running");
	await page.waitForFunction(() => [...document.querySelectorAll("#sums tr[data-state]")].every(row => row.dataset.state === "running"));
	const views = [...await viewOf(page, "a"), ...await viewOf(page, "b")];
	await page.reload();
	await settled(page);
	const again = [...await viewOf(page, "a"), ...await viewOf(page, "b")];
	assert(views.every((ns, i) => Math.abs(again[i] - ns) <= 1), `the link opens ${again}, not ${views}`);	// it has whole ns
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));	// it is this test that reads
	await end(page);
});

test("a click says what an execution did then, and leads to it in the trace and to its waits", async () => {
	const page = await view(), listed = await json(page, "/executions/list"), longest = lengthsOf(listed, listed.count).sort((a, b) => b - a)[0], execution = listed.lengths_ns.indexOf(longest);

	await clickFirst(page, "b", 0.5);
	const details = page.locator(".side-b .details");
	await details.locator("dt", { hasText: "state" }).waitFor();
	assert((await details.locator("h3").innerText()) === `Execution #${execution + 1}`, "another execution is told");
	await address(page, search => search.get("b.slice"));
	await details.getByRole("link", { name: "Its waits" }).click();
	await settled(page, 1);
	const search = await address(page, search => search.get("sel"));
	assert(search.get("sel") === `${listed.begins_ns[execution]}~${listed.begins_ns[execution] + longest}` && search.get("list") === "waits", `the link is ${search}`);
	await page.locator("#events tbody tr").first().waitFor();
	await end(page);
});

test("other groups, figures and cycles are chosen in the page, and what cannot be grouped is said", async () => {
	const page = await view();

	await page.getByLabel("Number of groups").selectOption("3");
	await page.waitForURL(url => url.searchParams.get("groups") === "3");
	await settled(page);
	await page.getByLabel("Group of side A").selectOption("2");
	await page.waitForURL(url => url.searchParams.get("between") === "2,3");
	await settled(page);
	assert((await page.locator(".side-a h2").innerText()).replace(/\s/g, " ").includes("Group 2"), "A is another group");
	await page.locator("#report").scrollIntoViewIfNeeded();
	await page.locator("#figures").waitFor();
	await page.getByLabel("Executions of what").selectOption("cycle socket");
	await page.waitForURL(url => url.searchParams.get("cycle") === "socket");
	await settled(page);
	await page.getByLabel("Figures that make groups").fill("nothing");
	await page.getByLabel("Figures that make groups").press("Enter");
	await page.locator("[role=alert]", { hasText: "no figure 'nothing'" }).waitFor();
	page.problems = page.problems.filter(problem => !/500/.test(problem));
	await end(page);
});

test("a trace with spans has a link to its groups", async () => {
	const page = await view([]);

	await page.getByRole("link", { name: "Compare groups of executions" }).click();
	await settled(page);
	await page.getByRole("link", { name: "The trace" }).click();
	await settled(page, 1);
	await end(page);
});

test("two traces are aligned where an execution of each begins; notes of the second side are in the link", async () => {
	const page = await view(["t.pinch"]), { events } = await json(page, "/spans?row=0&count=20");

	await page.getByRole("button", { name: "Spans", exact: true }).click();
	for (const [side, row] of [["A", 3], ["B", 7]]) {
		await page.getByRole("group", { name: "Whose lists are shown" }).getByRole("button", { name: side, exact: true }).click();
		await page.locator(`#events tbody tr[aria-rowindex="${row + 2}"]`).click();
		await address(page, search => search.get(side === "A" ? "slice" : "b.slice")?.endsWith(`@${events[row].time_ns}`));
	}
	await page.getByRole("button", { name: "Align here" }).click();
	await address(page, search => Number(search.get("offset")) === events[7].time_ns - events[3].time_ns);
	await page.locator(".side-b .graph-canvas").focus();
	await page.keyboard.press("m");
	const note = (await address(page, search => search.get("b.note"))).get("b.note");
	await page.evaluate(() => localStorage.clear());
	await page.reload();
	await settled(page);
	assert((await address(page)).get("b.note") === note && await page.locator(".side-b .notes input, .side-b .notes li").count() > 0, `the note ${note} is not in the link`);
	await end(page);
});

test("without serious faults of accessibility, light and dark, and at 360 px", async () => {
	for (const how of [{ scheme: "light" }, { scheme: "dark" }, { width: 360, height: 740, touch: true }]) {
		const page = await view(["--compare"], how), name = how.scheme ?? "360";
		await page.locator("#sums tbody tr").first().waitFor();
		const found = await faults(page);
		assert(!found.length, `${name}: ${JSON.stringify(found)}`);
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: the page is wider than the window`);
		await shot(page, `executions-${name}`, false);
		await end(page);
	}
});

await main();
