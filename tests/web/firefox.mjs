// SPDX-License-Identifier: GPL-2.0-or-later
// A choice of what people do with the pages of pinch, in Firefox as Debian has it: the picture has the same colours as in Chromium, and
// wheel, keys, clicks, filters, links and reports do the same. Screenshots stay in $O/web-shots.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { assert, BUILD, close, colours, directory, drawAll, main, makePage, note, open, section, sections, shot, start, stop, test } from "./browser.mjs";
import { hostileReport, wholeReport } from "./data.mjs";
import { SHARES } from "./made_trace.mjs";
import { address, box, canvas, compareLane, details, drawn, end, go, hideOverlays, lane, seen, settled, stateColours, threadSeen, view } from "./view_page.mjs";
import * as processes from "./view_process.mjs";

const DARK = { "layout.css.prefers-color-scheme.content-override": 0 };

test("the picture has each state in its colour and with its share of the height, at every zoom", async () => {
	const page = await view(), colours = await stateColours(page);

	await hideOverlays(page);
	const kinds = await Promise.all(["process", "name", "thread"].map(async kind => Number(await page.locator(`.lane.is-${kind}:not(.is-idle)`).first().getAttribute("data-lane"))));
	for (const width_ns of [7e8, 5e7, 2e5]) {
		await go(page, `view=300000000~${300000000 + width_ns}&hide=wakes.marks.activities.messages`);
		for (const id of kinds)
			await compareLane(page, id, colours);
	}
	await shot(page, "firefox-graph", false);
	await end(page);
});

test("the wheel zooms at the pointer, dragging and Shift with the wheel pan", async () => {
	const page = await view(), area = await box(page), x = 300, under = x / area.width * page.trace.whole_ns;

	await page.mouse.move(area.x + x, area.y + 300);
	await page.mouse.wheel(0, -400);
	const [from, to] = await seen(page, ([, to]) => to < 9e8);
	assert(Math.abs(from + x / area.width * (to - from) - under) < 3, "what was under the pointer has moved");
	await page.keyboard.down("Shift");
	await page.mouse.wheel(0, 100);
	await page.keyboard.up("Shift");
	const [later] = await seen(page, ([begin]) => begin > from + 1);
	assert(Math.abs(later - from - 100 / area.width * (to - from)) < 3, `Shift and the wheel pan by ${later - from} ns`);
	await page.mouse.down();
	await page.mouse.move(area.x + x + 150, area.y + 300, { steps: 5 });
	await page.mouse.up();
	const [dragged] = await seen(page, ([begin]) => begin < later - 1);
	assert(Math.abs(later - dragged - 150 / area.width * (to - from)) < 3, "it does not follow the mouse");
	await end(page);
});

test("keys zoom, pan, go from state to state, select and search; what is chosen is said", async () => {
	const page = await view();

	await page.locator(".graph-canvas").focus();
	for (const key of ["w", "w", "w"])
		await page.keyboard.press(key);
	const zoomed = await seen(page, ([from, to]) => to - from < 3e8);
	await page.keyboard.press("d");
	const panned = await seen(page, ([from]) => from > zoomed[0]);
	await page.keyboard.press("s");
	await seen(page, ([from, to]) => to - from > panned[1] - panned[0]);
	await page.keyboard.press("Backspace");
	assert(String(await seen(page, ([from]) => from === panned[0])) === String(panned), "it was not undone");
	await page.keyboard.press("0");
	await address(page, search => !search.get("view"));
	for (let i = 0; i < 4; i++)
		await page.keyboard.press("ArrowDown");
	await page.waitForFunction(() => /^worker\d \d+/.test(document.querySelector("[aria-live=polite]").textContent));
	for (let i = 0; i < 12; i++)
		await page.keyboard.press("w");
	await settled(page);
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await details(page).waitFor();
	await page.waitForFunction(() => /since/.test(document.querySelector("[aria-live=polite]").textContent));
	await page.keyboard.press("Shift+ArrowRight");
	await address(page, search => search.get("sel"));
	await page.keyboard.press("Escape");
	await page.keyboard.press("/");
	await page.keyboard.type("worker1");
	await address(page, search => search.get("lanes") === "worker1");
	await end(page);
});

test("a click on a wait shows its lock, its length, who ended it, and waits alike; a step leads to the waker", async () => {
	const page = await view(), area = await box(page), id = await threadSeen(page);
	const slices = page.trace.statesOf(page.trace.lanes[id].thread), slice = slices.find((slice, i) => i > 20 && slice.share === SHARES.indexOf("lock"));

	await go(page, `view=${slice.begin - 100000}~${slice.end + 100000}`);
	await page.mouse.click(area.x + area.width / 2, (await lane(page, id).boundingBox()).y + 8);
	await details(page).locator("h4", { hasText: "Ended by" }).waitFor();
	await details(page).locator(".longest").waitFor();
	const words = await details(page).innerText(), waker = page.trace.lanes[page.trace.laneOf.get(slices[slices.indexOf(slice) + 1].waker)];
	for (const wanted of ["mutex pool.lock", "pool_get", "All waits like this", "The way to its cause", `${waker.name} (tid ${waker.tid})`])
		assert(words.includes(wanted), `no ${wanted} in ${words}`);
	await shot(page, "firefox-details", false);
	await details(page).locator(".steps button").nth(1).click();
	await address(page, search => search.get("focus") === String(waker.id));
	await end(page);
});

test("a row of the list leads to its moment in the graph, and a place in the graph to its row", async () => {
	const page = await view({ events: 1e6 }), area = await box(page);

	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.locator("#events tbody tr[aria-rowindex='7'] td").first().waitFor();
	await page.locator("#events tbody tr").nth(5).click();
	const { time_ns, thread } = page.trace.event(5);
	await address(page, search => search.get("at") === String(time_ns) && search.get("focus") === String(page.trace.laneOf.get(thread)));
	await page.evaluate(() => scrollTo(0, 0));
	await page.mouse.click(area.x + area.width / 2, (await lane(page, await threadSeen(page)).boundingBox()).y + 8);
	const at_ns = Number((await address(page, search => search.get("at") !== String(time_ns))).get("at"));
	await page.waitForFunction(() => document.querySelector("#events tr[aria-selected=true]"));
	const chosen = Number(await page.locator("#events tr[aria-selected=true]").getAttribute("aria-rowindex")) - 2;
	assert(page.trace.timeOf(chosen, 1e6) >= at_ns && page.trace.timeOf(chosen - 1, 1e6) < at_ns, `row ${chosen} is not the first behind ${at_ns}`);
	await end(page);
});

test("a written time is selected, filters of threads and causes hold for picture and sums, to the nanosecond", async () => {
	const page = await view({ events: 3000, mean_ns: 2e7 }), { trace } = page, lock = SHARES.indexOf("lock");
	const sumsAre = async (threads, shares) => {
		const wanted = shares.map(share => threads.reduce((sum, one) => sum + (trace.sharesIn(one, 3e8, 5e8).get(share) ?? 0), 0)).filter(ns => ns > 0).sort((a, b) => b - a);
		await page.waitForFunction(all => [...document.querySelectorAll("#sums .slices li")].map(item => item.dataset.tip.replace(/\D/g, "")).join() === all, wanted.join());
	};
	const threads = trace.lanes.filter(one => one.kind === "thread"), every = SHARES.map((_, share) => share);

	await hideOverlays(page);
	await page.getByLabel("Select a time").fill("300..500ms");
	await page.getByLabel("Select a time").press("Enter");
	await address(page, search => search.get("sel") === "300000000~500000000");
	await page.locator("#sums").scrollIntoViewIfNeeded();
	await sumsAre(threads, every);
	await page.getByLabel("Only this thread").fill("worker1");
	await sumsAre(threads.filter(one => one.name === "worker1"), every);
	await page.getByLabel("Only this cause").fill("lock");
	await address(page, search => search.get("cause") === "lock" && search.get("thread") === "worker1");
	await settled(page);
	const states = await stateColours(page), found = (await drawn(page, await threadSeen(page), Array.from({ length: 60 }, (_, i) => 100 + 12 * i))).flat();
	assert(found.includes(states[lock]), "no lock is drawn");
	assert(!found.includes(states[SHARES.indexOf("running")]), "what runs is not pale");
	await shot(page, "firefox-filter", false);
	await end(page);
});

test("a copied link opens the same picture, details and rows", async () => {
	const page = await view({ events: 5000 }), thread = page.trace.lanes.find(one => one.kind === "thread"), slice = page.trace.statesOf(thread.thread)[30];
	const rows = of => of.$$eval("#events tbody tr", all => all.map(row => row.textContent).join("\n"));

	await go(page, `view=${slice.begin - 3e6}~${slice.end + 3e6}&sel=${slice.begin}~${slice.end}&pin=${thread.id}&sort=name&slice=${thread.id}@${slice.begin}&focus=${thread.id}&event=sched.WAKING&row=100`);
	const other = await open(page.url());
	for (const one of [page, other]) {
		await details(one).locator("h4").first().waitFor();
		await one.locator("#events").scrollIntoViewIfNeeded();
		await one.waitForFunction(() => document.querySelector("#events tbody tr")?.cells.length > 1);
		await one.evaluate(() => scrollTo(0, 0));
		await settled(one);
	}
	// Pixels, for Firefox puts a random word into each PNG.
	const picture = of => canvas(of).evaluate(element => element.getContext("2d").getImageData(0, 0, element.width, element.height).data.join()), limit = Date.now() + 20000;
	while (await picture(other) !== await picture(page))		// wake-ups and marks come when tiles are there
		assert(Date.now() < limit, "the picture is another one");
	assert(await details(other).innerText() === await details(page).innerText(), "the details are others");
	assert(await rows(other) === await rows(page), "the rows are others");
	await close(other);
	await end(page);
});

/** What pinch view serves of a recorded example. Undefined: nothing can be recorded here. */
async function viewRecorded() {
	const trace = join(directory, "recorded.pinch");

	try {
		processes.record(trace, [], [join(BUILD, "programs/mutex_storm"), "3", "20000"]);
	} catch (error) {
		note(`skipped: recording needs root and a built pinch: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return undefined;
	}
	return { ...await processes.serve([trace]), trace };
}

test("a recorded trace is looked at with pinch view itself, whose policy forbids nothing that the page does", async () => {
	const served = await viewRecorded();

	if (!served)
		return;
	const { child, link, trace } = served, page = await open(link);
	await settled(page);
	assert(await page.locator(".lane.is-thread").count() >= 3 && await colours(canvas(page)) > 4, `too little is drawn: ${await page.locator(".lane .name").allInnerTexts()}`);
	assert(!new URL(page.url()).search, "the token stays in the address");
	await page.getByLabel("Only this cause").fill("lock");
	await page.locator("#events").getByRole("button", { name: "Waits", exact: true }).click();
	await page.locator("#events tbody tr td").first().waitFor();
	await page.locator("#events tbody tr").first().click();
	await details(page).locator("dl").waitFor();
	assert(/lock[\s\S]*\d\s(ns|us|ms|s)/.test(await details(page).innerText()), await details(page).innerText());
	await page.locator("#report").scrollIntoViewIfNeeded();
	await page.locator("#verdict").waitFor();
	const report = JSON.parse(execFileSync(processes.PINCH, ["report", "-q", "--json", "-", trace], { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
	assert((await page.locator(".verdict p").first().innerText()).replace(/\s/g, " ") === report.verdict.lines[0].replace(/\s/g, " "), await page.locator(".verdict p").first().innerText());
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "firefox-recorded", false);
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D"));
	await close(page);
	await processes.stop(child);
});

test("a report has all its sections, drawn; tables are sorted and searched, flame graphs entered; hostile names stay text", async () => {
	const page = await open(makePage("firefox-report", wholeReport()));

	for (const id of ["verdict", "causes", "findings", "balance", "parallelism", "threads", "flames", "locks", "waits", "paths", "timelines", "graph", "path", "about"])
		assert((await sections(page)).includes(id), `there is no section ${id}`);
	await drawAll(page);
	for (const id of ["parallelism", "timelines", "path"])
		assert(await colours(page.locator(`#${id} canvas`).first()) >= 4, `#${id} has too few colours`);
	const locks = await section(page, "locks");
	await locks.locator("th button", { hasText: "lock" }).first().click();
	await locks.locator("th[aria-sort='ascending']").waitFor();
	await locks.locator("input[type=search]").fill("work_mutex");
	await page.waitForFunction(() => document.querySelectorAll("#locks tbody tr").length === 1);
	const flames = await section(page, "flames");
	await flames.locator(".frame").last().click();
	await flames.locator("button", { hasText: "Show all" }).click();
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "firefox-report");
	await close(page);
	const hostile = await open(makePage("firefox-hostile", hostileReport()));
	await drawAll(hostile);
	assert(!await hostile.evaluate(() => window.hacked), "a name has run");
	await close(hostile);
});

test("at 360 pixels nothing is wider than the screen", async () => {
	const report = await open(makePage("firefox-360", wholeReport()), { width: 360, height: 740 }), page = await view({}, { width: 360, height: 740 });

	await drawAll(report);
	for (const one of [report, page]) {
		const over = await one.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert(over <= 0, `the page is ${over} pixels wider than the screen`);
	}
	await shot(page, "firefox-360", false);
	await close(report);
	await end(page);
});

test("it is dark when the system is, unless the user wants it light, and the picture follows", async () => {
	await stop();
	await start("firefox", DARK);
	const page = await view(), ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark = await ground();

	await hideOverlays(page);
	assert(/^rgb\((\d|[1-5]\d), /.test(dark), `the ground is ${dark}`);
	const id = page.trace.lanes.find(one => one.kind === "process").id, inTheDark = await stateColours(page);
	await compareLane(page, id, inTheDark);
	await shot(page, "firefox-dark", false);
	await page.locator(".theme").click();
	await page.waitForFunction(old => getComputedStyle(document.body).backgroundColor !== old, dark);
	await settled(page);
	assert(String(await stateColours(page)) !== String(inTheDark), "states have the same colours in the light");
	await compareLane(page, id, await stateColours(page));
	await end(page);
});

await main("firefox");
