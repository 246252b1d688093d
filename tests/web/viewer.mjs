// SPDX-License-Identifier: GPL-2.0-or-later
// The page of pinch view, in a browser, with a server of a trace that was made up: what is drawn is compared with it.
// Screenshots stay in $O/web-shots.
import { assert, close, faults, main, note, open, shot, test } from "./browser.mjs";
import { firstBehind, MadeTrace } from "./made_trace.mjs";
import { record, serve, stop } from "./recorded_view.mjs";
import { address, box, canvas, compareLane, details, drawn, end, go, headHeight, hideOverlays, lane, rangeOf, seen, settled, stateColours, threadSeen, view } from "./view_page.mjs";
import { ViewServer } from "./view_server.mjs";

const GAP_PX = 3, AXIS_Y = 39, OVERVIEW_Y = 12;

test("what is drawn of threads, groups and processes has each state with its share of the height, at every zoom", async () => {
	const page = await view(), colours = await stateColours(page);

	await hideOverlays(page);
	const kinds = await Promise.all(["process", "name", "thread"].map(async kind => Number(await page.locator(`.lane.is-${kind}:not(.is-idle)`).first().getAttribute("data-lane"))));
	for (const width_ns of [1e9, 3e8, 5e7, 4e6, 2e5]) {
		await go(page, `view=${Math.round(0.3e9)}~${Math.round(0.3e9 + Math.min(width_ns, 0.7e9))}&hide=wakes.marks.activities.messages`);
		for (const id of kinds)
			await compareLane(page, id, colours);
	}
	await end(page);
});

test("while tiles are on their way, coarser ones stand in; those that nobody wants any more are not waited for", async () => {
	const page = await view(), { server } = page;

	await hideOverlays(page);
	server.held = [];
	await canvas(page).hover({ position: { x: 400, y: 300 } });
	await page.mouse.wheel(0, -600);
	await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.waiting) > 0);
	const id = page.trace.lanes.find(lane => lane.kind === "process").id, [column] = await drawn(page, id, [500]);
	assert(new Set(column).size > 2, "nothing stands in");
	const first = server.held.length;
	assert(first > 0 && first <= 4, `${first} requests at once`);
	for (let i = 0; i < 6; i++)
		await page.mouse.wheel(0, -600);
	await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.waiting) > 0);
	const held = server.held;
	server.held = null;
	held.forEach(write => write());
	await settled(page);
	await compareLane(page, id, await stateColours(page));
	await end(page);
});

test("the wheel zooms at the pointer, and pans with Shift; dragging pans; a double click shows all", async () => {
	const page = await view(), area = await box(page), x = 300;

	await page.mouse.move(area.x + x, area.y + 300);
	const under = x / area.width * page.trace.whole_ns;
	await page.mouse.wheel(0, -400);
	const [from, to] = await seen(page, ([, to]) => to < 9e8);
	assert(Math.abs(from + x / area.width * (to - from) - under) < 3, "what was under the pointer has moved");
	await page.keyboard.down("Shift");
	await page.mouse.wheel(0, 100);
	await page.keyboard.up("Shift");
	const [later] = await seen(page, ([begin]) => begin > from + 1);
	assert(Math.abs(later - from - 100 / area.width * (to - from)) < 3, "Shift and the wheel pan by another distance");
	await page.mouse.down();
	await page.mouse.move(area.x + x + 150, area.y + 300, { steps: 5 });
	await page.mouse.up();
	const [dragged] = await seen(page, ([begin]) => begin < later - 1);
	assert(Math.abs(later - dragged - 150 / area.width * (to - from)) < 3, "it does not follow the mouse");
	await page.mouse.dblclick(area.x + x, area.y + 300);
	await address(page, search => !search.get("view"));
	await end(page);
});

test("a stretch of time is selected on the axis, with Shift, and in the charts of the report; F zooms to it, Escape forgets it", async () => {
	const page = await view(), area = await box(page), time = x => x / area.width * page.trace.whole_ns;

	await page.mouse.move(area.x + 200, area.y + AXIS_Y);
	await page.mouse.down();
	await page.mouse.move(area.x + 400, area.y + AXIS_Y, { steps: 4 });
	await page.mouse.up();
	const [from, to] = rangeOf(page, (await address(page, search => search.get("sel"))).get("sel"));
	assert(Math.abs(from - time(200)) <= 1 && Math.abs(to - time(400)) <= 1, `${from} to ${to} are selected`);
	assert(/selected: 1/.test(await page.locator(".selected").innerText()), "it is not said what is selected");
	await page.locator(".graph-canvas").press("f");
	const view_ns = await seen(page, ([begin]) => begin > 0);
	assert(view_ns[0] === from && view_ns[1] === to, `${view_ns} is seen`);
	await page.locator(".graph-canvas").press("Escape");
	await address(page, search => !search.get("sel"));
	await page.keyboard.down("Shift");
	await page.mouse.move(area.x + 100, area.y + 300);
	await page.mouse.down();
	await page.mouse.move(area.x + 160, area.y + 340, { steps: 4 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await address(page, search => search.get("sel"));
	await page.locator(".forget").click();
	await address(page, search => !search.get("sel"));
	await end(page);
});

test("the overview moves what is seen, and navigation is undone and redone, by keys and by the browser", async () => {
	const page = await view(), area = await box(page), app = page.locator(".graph-canvas");

	await app.focus();
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("w");
	const first = await seen(page, ([from, to]) => to - from < 3e8);
	await page.mouse.click(area.x + area.width * 0.8, area.y + OVERVIEW_Y);
	const second = await seen(page, ([from]) => from > first[0] + 1e8);
	assert(Math.abs((second[0] + second[1]) / 2 - 0.8e9) < 2e6, `the middle is ${(second[0] + second[1]) / 2}`);
	await app.focus();
	await page.keyboard.press("Backspace");
	assert(String(await seen(page, ([from]) => from === first[0])) === String(first), "it was not undone");
	await page.goBack();
	await address(page, search => !search.get("view"));
	await page.keyboard.press("Backspace");		// there is nothing more to undo: the page stays
	await page.keyboard.press("Shift+Backspace");
	await seen(page, ([from]) => from === first[0]);
	await page.goForward();
	await seen(page, ([from]) => from === second[0]);
	await end(page);
});

test("lanes are opened, closed, searched, sorted and pinned", async () => {
	const page = await view({ processes: 3, names: 2, each: 3 }, { height: 1400 }), names = () => page.locator(".lane-list:not(.is-pinned) .name").allInnerTexts();
	const process = page.trace.lanes.find(lane => lane.kind === "process").id;

	const all = await names();
	await lane(page, process).locator(".toggle").click();
	await address(page, search => search.get("open") === String(process));
	assert((await names()).length === all.length - 8, "its lanes are still there");
	await page.getByLabel("Search lanes").fill("server-1");
	await page.waitForFunction(() => ![...document.querySelectorAll(".lane-list:not(.is-pinned) .name")].some(name => /server-[02]/.test(name.textContent)));
	assert((await names()).length === 10, `${await names()}`);
	await page.getByLabel("Search lanes").fill("20001");
	await page.waitForFunction(() => document.querySelectorAll(".lane-list:not(.is-pinned) .lane").length === 4);
	await page.getByLabel("Search lanes").fill("");
	await page.getByRole("button", { name: "by name" }).click();
	await page.waitForFunction(() => document.querySelector(".lane-list:not(.is-pinned) .is-process .name").textContent.startsWith("server-0"));
	const thread = page.trace.lanes.filter(lane => lane.kind === "thread")[8].id;
	await lane(page, thread).hover();
	await lane(page, thread).locator(".pin").click();
	await page.locator(`.is-pinned .lane[data-lane="${thread}"]`).waitFor();
	await page.locator(".graph-view").evaluate(view => { view.scrollTop = 200; });
	await settled(page);
	assert(await page.locator(`.is-pinned .lane[data-lane="${thread}"]`).isVisible(), "it scrolls away");
	await address(page, search => search.get("pin") === String(thread) && search.get("sort") === "name");
	await end(page);
});

test("a tooltip tells the state, its length, and who woke; it tells shares where states are close", async () => {
	const page = await view(), area = await box(page), id = await threadSeen(page);
	const slices = page.trace.statesOf(page.trace.lanes[id].thread), at = slices.findIndex((slice, i) => i > 20 && slice.share === 3), slice = slices[at];

	const tip = async (x, y) => {
		await page.mouse.move(area.x + x, area.y + y);
		await page.locator(".tip:not([hidden])").waitFor();
		return page.locator(".tip").innerText();
	};
	const y = (await lane(page, id).boundingBox()).y - area.y + 8;
	assert(/\d\s%/.test(await tip(500, await headHeight(page) + 34)), `no shares: ${await tip(500, await headHeight(page) + 34)}`);
	assert(/Threads at .*\n[\s\S]*: [\d.]+ threads/.test(await tip(500, 70)), `${await tip(500, 70)}`);
	await go(page, `view=${slice.begin - 50000}~${slice.end + 50000}`);
	const words = await tip(area.width / 2, y);
	const waker = page.trace.lanes[page.trace.laneOf.get(slice.waker)];
	assert(words.includes("waiting for a CPU") && words.includes(`woken by ${waker.name} ${waker.tid}`) && /[\d.]+\s(us|ms), since [\d.]+/.test(words), words);
	await page.locator(".graph-canvas").press("Escape");
	await end(page);
});

test("wake-ups are arrows from the waker to the woken, circles are events of the program's own, and both can be hidden", async () => {
	const page = await view(), area = await box(page), accent = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim());
	const id = await threadSeen(page), row = await lane(page, id).boundingBox(), ids = await page.$$eval(".lane", lanes => lanes.map(lane => Number(lane.dataset.lane)));
	const thread = page.trace.lanes[id].thread;
	const slice = page.trace.statesOf(thread).find((slice, i) => i > 20 && slice.share === 3 && slice.waker !== thread && ids.includes(page.trace.laneOf.get(slice.waker)));
	const colourAt = (x, y) => page.evaluate(([x, y]) => {
		const { data } = document.querySelector(".graph-canvas canvas").getContext("2d").getImageData(x, y, 1, 1);
		return "#" + [...data.slice(0, 3)].map(byte => byte.toString(16).padStart(2, "0")).join("");
	}, [Math.round(x), Math.round(y)]);
	const waker = await lane(page, page.trace.laneOf.get(slice.waker)).boundingBox(), middle = (waker.y + row.y) / 2 + 9 - area.y;

	assert(/too close/.test(await page.locator(".said").innerText()), "it is not said that wake-ups are too close");
	await go(page, `view=${slice.begin - 1e6}~${slice.begin + 1e6}`);
	const arrow = async () => (await Promise.all([-1, 0, 1].map(by => colourAt(area.width / 2 + by, middle + 1)))).includes(accent);
	assert(await arrow(), "there is no arrow");
	await page.mouse.move(area.x + area.width / 2, area.y + middle);
	await page.locator(".tip:not([hidden])").waitFor();
	const words = await page.locator(".tip").innerText(), name = one => `${one.name} ${one.tid}`;
	assert(words.includes(`${name(page.trace.lanes[page.trace.laneOf.get(slice.waker)])} woke ${name(page.trace.lanes[id])} at`), words);
	await page.getByRole("button", { name: "Wake-ups" }).click();
	await address(page, search => search.get("hide") === "wakes");
	await settled(page);
	assert(!await arrow(), "the arrow is still there");
	await go(page, "view=95000000~105000000");
	await page.waitForFunction(() => performance.getEntriesByType("resource").some(entry => /marks/.test(entry.name)));
	const ink = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--fg").trim());
	const y = row.y - area.y + (row.height - GAP_PX) / 2;
	for (let i = 0; await colourAt(area.width / 2, y) !== ink; i++)
		assert(i < 200, "there is no circle");
	await page.mouse.move(area.x + area.width / 2, area.y + y);
	await page.waitForFunction(() => /request\.BEGIN \d+ at/.test(document.querySelector(".tip").textContent));
	await page.locator(".graph-box").getByRole("button", { name: "Events", exact: true }).click();
	await settled(page);
	assert(await colourAt(area.width / 2, y) !== ink, "the circle is still there");
	await end(page);
});

test("a click on a wait says what it waited for, how long, who ended it, the way to its cause, and waits alike; each leads on", async () => {
	const page = await view(), area = await box(page), id = await threadSeen(page);
	const slices = page.trace.statesOf(page.trace.lanes[id].thread), slice = slices.find((slice, i) => i > 20 && slice.share === 4);

	await go(page, `view=${slice.begin - 100000}~${slice.end + 100000}`);
	const row = await lane(page, id).boundingBox();
	await page.mouse.click(area.x + area.width / 2, row.y + 8);
	await details(page).locator("h4", { hasText: "Ended by" }).waitFor();
	await details(page).locator(".longest").waitFor();
	const words = await details(page).innerText(), waker = page.trace.lanes[page.trace.laneOf.get(slices[slices.indexOf(slice) + 1].waker)];
	for (const wanted of ["mutex pool.lock", "futex", "pool_get", "All waits like this", "that of another one", "The way to its cause", `${waker.name} (tid ${waker.tid})`])
		assert(words.includes(wanted), `no ${wanted} in ${words}`);
	assert(await details(page).locator("dd").nth(1).innerText().then(text => /^[\d.]+\s(us|ms)$/.test(text)), "no length with a unit");
	await shot(page, "viewer-details", false);
	await details(page).locator(".steps button").nth(1).click();
	await address(page, search => search.get("focus") === String(waker.id));
	await page.goBack();
	await details(page).locator(".longest button").first().waitFor();
	await details(page).locator(".longest button").first().click();
	const longest = slices.filter(one => one.share === 4).sort((a, b) => b.end - b.begin - a.end + a.begin)[0];
	await address(page, search => search.get("slice") === `${id}@${longest.begin}`);
	await details(page).getByRole("button", { name: "Predict" }).click();
	await details(page).locator("[role=status]", { hasText: "1.00\u00a0s would take 800\u00a0ms (700\u00a0ms to 900\u00a0ms): 20\u00a0% less" }).waitFor();
	assert(await details(page).locator("svg rect[data-tip]").count() === 2, "no histogram of lengths");
	await details(page).getByRole("button", { name: "Select its time" }).click();
	await address(page, search => search.get("sel") === `${longest.begin}~${longest.end}`);
	await details(page).getByLabel("Close the details").click();
	await details(page).waitFor({ state: "detached" });
	await end(page);
});

async function toEvents(page) {
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.locator("#events tbody tr[aria-rowindex='2'] td").first().waitFor();
}

function rowsShown(page) {
	return page.$$eval("#events tbody tr", rows => rows.map(row => [Number(row.getAttribute("aria-rowindex")) - 2, ...[...row.cells].map(cell => cell.textContent)]));
}

test("of a hundred million events any row is reached by the bar, the wheel, keys and its number, and is the right one", async () => {
	const page = await view({ events: 100e6 }), list = page.locator(".event-box");

	await toEvents(page);
	const check = async holds => {
		await page.waitForFunction(() => [...document.querySelectorAll("#events tbody tr")].every(row => row.cells.length > 1));
		const rows = await rowsShown(page);
		assert(holds(rows[0][0], rows[rows.length - 1][0]), `rows ${rows[0][0]} to ${rows[rows.length - 1][0]}`);
		for (const [row, , cpu, , thread, event, text] of rows) {
			const made = page.trace.event(row);
			assert(cpu === String(made.cpu) && thread === `${made.name} ${made.tid}` && event === made.event && text === made.text, `row ${row}: ${text}`);
		}
	};
	await check(first => first === 0);
	for (const part of [0.5, 1, 0.25]) {
		await list.evaluate((element, part) => { element.scrollTop = part * (element.scrollHeight - element.clientHeight); }, part);
		await page.waitForFunction(part => Math.abs(document.querySelector("#events tbody tr").ariaRowIndex / 1e8 - part) < 1e-3, part);
		await check((first, last) => part < 1 || last === 1e8 - 1);
	}
	await page.getByLabel("Go to row").fill("12345679");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.querySelector("#events tbody tr").ariaRowIndex === "12345680");
	await check(first => first === 12345678);
	await list.hover();
	await page.mouse.wheel(0, 240);
	await page.waitForFunction(() => document.querySelector("#events tbody tr").ariaRowIndex === "12345690");
	await check(first => first === 12345688);
	await address(page, search => search.get("row") === "12345688");
	await page.locator("#events table").focus();
	await page.keyboard.press("End");
	await page.waitForFunction(() => Number([...document.querySelectorAll("#events tbody tr")].pop().ariaRowIndex) === 1e8 + 1);
	await end(page);
});

test("while events are counted the list says so, and goes on by itself", async () => {
	const server = new ViewServer(new MadeTrace({ events: 12000 }));

	server.counted = 0;				// the first answer has no rows at all
	const page = await open(await server.start());
	await page.evaluate(() => {
		const seen = window.said = new Set();
		new MutationObserver(() => seen.add(document.querySelector("#events [role=status]")?.textContent)).observe(document.body, { subtree: true, childList: true, characterData: true });
	});
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.locator("#events [role=status]", { hasText: /^12,000\sevents$/ }).waitFor();
	await page.waitForFunction(() => document.querySelector("#events tbody tr")?.cells.length > 1);
	await close(page);
	await server.stop();
});

/** Over many pixels, a CPU's lane has the colours of what it did. */
async function cpuIsDrawn(page, id) {
	const [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number), step = (to - from) / (await box(page)).width;
	const colours = await page.evaluate(() => ["c-running", "c-other"].map(name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
	const pixels = (await drawn(page, id, Array.from({ length: 400 }, (_, i) => 200 + i))).flat(), sums = page.trace.sharesIn(page.trace.lanes[id], from + 200 * step, from + 600 * step);

	for (const share of [1, 2]) {
		const is = pixels.filter(pixel => pixel === colours[share - 1]).length / pixels.length, wanted = (sums.get(share) ?? 0) / (400 * step);
		assert(Math.abs(is - wanted) < 0.03, `${is} of share ${share}, not ${wanted}`);
	}
}

test("CPUs are drawn with their shares from far away, and exactly when one zooms in", async () => {
	const page = await view({ whole_ns: 4e9 }), area = await box(page), id = page.trace.lanes.find(lane => lane.kind === "cpu").id;

	await hideOverlays(page);
	await page.getByLabel("Search lanes").fill("cpu");
	await lane(page, id).waitFor();
	await settled(page);
	await cpuIsDrawn(page, id);
	await page.mouse.move(area.x + 400, (await lane(page, id).boundingBox()).y + 7);
	for (let i = 0; i < 8; i++)
		await page.mouse.wheel(0, -400);
	await page.waitForFunction(() => { const [from, to] = document.querySelector(".graph-canvas canvas").dataset.view.split("~"); return to - from < 1e8; });
	await settled(page);
	await cpuIsDrawn(page, id);
	await end(page);
});

test("a row leads to its moment in the graph, and a place in the graph to its row", async () => {
	const page = await view({ events: 1e6 }), area = await box(page);

	await toEvents(page);
	await page.locator("#events tbody tr").nth(5).click();
	const { time_ns, thread } = page.trace.event(5);
	await address(page, search => search.get("at") === String(time_ns) && search.get("focus") === String(page.trace.laneOf.get(thread)));
	await page.locator("#main").evaluate(() => scrollTo(0, 0));
	const row = await lane(page, await threadSeen(page)).boundingBox();
	await page.mouse.click(area.x + area.width / 2, row.y + 8);
	await page.waitForFunction(() => document.querySelector("#events tr[aria-selected=true]"));
	const chosen = Number(await page.locator("#events tr[aria-selected=true]").getAttribute("aria-rowindex")) - 2;
	const at_ns = Number((await address(page, search => search.get("at"))).get("at"));
	assert(page.trace.timeOf(chosen, 1e6) >= at_ns && page.trace.timeOf(chosen - 1, 1e6) < at_ns, `row ${chosen} is not the first behind ${at_ns}`);
	await end(page);
});

test("events are filtered by column, by text and by the selected time, as one who goes through all of them would", async () => {
	const page = await view({ events: 3000 }), rows = Array.from({ length: 3000 }, (_, row) => page.trace.event(row));
	const count = async (wanted, why) => {
		await page.waitForFunction(n => document.querySelector("#events [role=status]").textContent.startsWith(n), `${wanted.toLocaleString("en")}\u00a0event`);
		const shown = await rowsShown(page), event = page.trace.event;
		assert(shown.length && event && shown[0][6] === wanted.first, `${why}: the first row is ${shown[0]}`);
	};
	const expect = (filtered, why) => count(Object.assign(Object(filtered.length), { first: filtered[0].text }), why);

	await toEvents(page);
	await page.getByLabel("Filter by CPU").fill("1, 3");
	await expect(rows.filter(row => row.cpu % 2), "CPU");
	await page.getByLabel("Filter by event").fill("sched.WAKING");
	await expect(rows.filter(row => row.cpu % 2 && row.event === "sched.WAKING"), "event");
	await page.getByLabel("Filter by arguments").fill("=1");
	await expect(rows.filter(row => row.cpu % 2 && row.event === "sched.WAKING" && row.text.includes("=1")), "text");
	await address(page, search => search.get("cpu") === "1, 3" && search.get("search") === "=1");
	await page.getByRole("button", { name: "No filter" }).click();
	await page.getByLabel("Filter by thread").fill("worker1");
	await expect(rows.filter(row => row.name === "worker1"), "thread by name");
	await page.getByLabel("Filter by thread").fill("20003");
	await expect(rows.filter(row => row.tid === 20003), "thread by tid");
	await page.getByLabel("Filter by thread").fill("");
	await page.getByLabel("Filter by process").fill("server-1");
	await expect(rows.filter(row => row.pid === 1100), "process by name");
	await page.getByLabel("Filter by process").fill("");
	await go(page, "sel=200000000~400000000");
	await page.getByRole("button", { name: "In the selected time" }).click();
	await expect(rows.filter(row => row.time_ns >= 2e8 && row.time_ns < 4e8), "selected time");
	await end(page);
});

test("a copied link opens the same picture", async () => {
	const page = await view({ events: 5000 }), picture = of => of.evaluate(() => document.querySelector(".graph-canvas canvas").toDataURL());
	const thread = page.trace.lanes.find(lane => lane.kind === "thread"), slice = page.trace.statesOf(thread.thread)[30];

	await go(page, `view=${slice.begin - 3e6}~${slice.end + 3e6}&sel=${slice.begin}~${slice.end}&pin=${thread.id}&sort=name&slice=${thread.id}@${slice.begin}&hide=marks&focus=${thread.id}` +
		`&open=${page.trace.lanes.filter(lane => lane.kind === "process")[1].id}&event=sched.WAKING&row=100&at=${slice.begin}`);
	await details(page).locator("h4").first().waitFor();
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.waitForFunction(() => document.querySelector("#events tbody tr")?.cells.length > 1);
	await page.evaluate(() => scrollTo(0, 0));
	await settled(page);
	const link = page.url(), other = await open(link);
	await details(other).locator("h4").first().waitFor();
	await settled(other);
	await other.waitForFunction(wanted => document.querySelector(".graph-canvas canvas").toDataURL() === wanted, await picture(page));
	assert(await details(other).innerText() === await details(page).innerText(), "the details are others");
	await other.locator("#events").scrollIntoViewIfNeeded();
	await other.waitForFunction(() => document.querySelector("#events tbody tr")?.cells.length > 1);
	assert(await other.getByLabel("Filter by event").inputValue() === "sched.WAKING", "the filter is not there");
	assert(String(await rowsShown(other)) === String(await rowsShown(page)), `the list has other rows: ${(await rowsShown(other))[0]}, not ${(await rowsShown(page))[0]}`);
	await close(other);
	await end(page);
});

test("the report of the selection has the sections of a report, and its charts share the selected time", async () => {
	const page = await view({ whole_ns: 2.4e9 });

	await page.locator("#report").scrollIntoViewIfNeeded();
	await page.locator("#verdict").waitFor();
	await go(page, "sel=400000000~1600000000");
	await page.getByRole("button", { name: "Report of the selection" }).click();
	await page.waitForFunction(() => /0\.4/.test(document.querySelector("#report .about").textContent));
	await page.locator("#verdict").waitFor();
	assert(page.server.asked.some(path => path === "/report?from=400000000&to=1600000000"), `${page.server.asked.filter(path => path.startsWith("/report"))}`);
	for (const id of ["balance", "findings", "threads", "locks", "waits", "timelines"])
		await page.locator(`#${id}`).waitFor();
	await page.locator("#parallelism").scrollIntoViewIfNeeded();
	await page.locator("#parallelism button[aria-label='Zoom in']").click();
	const [from, to] = rangeOf(page, (await address(page, search => search.get("sel") !== "400000000~1600000000")).get("sel"));
	assert(from > 4e8 && to <= 4e8 + 2.4e9, `${from} to ${to}`);
	await page.locator("#findings a[href='#waits']").first().click();
	await page.locator("#waits .detail").waitFor();
	assert(new URL(page.url()).hash.includes("sel="), "a link of the report took the place of the state");
	await page.getByRole("button", { name: "Of the whole trace" }).click();
	await page.waitForFunction(() => /whole trace/.test(document.querySelector("#report .about").textContent));
	await page.locator("#verdict").waitFor();
	await end(page);
});

test("when the server is gone the page says so, and goes on when it is back", async () => {
	const page = await view(), { server } = page, { port } = server;

	await hideOverlays(page);
	await server.stop();
	await canvas(page).hover({ position: { x: 300, y: 300 } });
	await page.mouse.wheel(0, -400);
	await page.locator(".gone", { hasText: "does not answer" }).waitFor();
	await server.start(port);
	await page.locator(".gone").waitFor({ state: "detached" });
	await settled(page);
	await compareLane(page, page.trace.lanes.find(lane => lane.kind === "process").id, await stateColours(page));
	page.problems = page.problems.filter(problem => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET/.test(problem));
	server.isRefusing = true;
	for (let i = 0; i < 3; i++)			// one step nearer may be drawn from tiles that are there
		await page.mouse.wheel(0, -400);
	await page.locator(".gone", { hasText: "does not know this browser" }).waitFor();
	page.problems = page.problems.filter(problem => !/403/.test(problem));
	await end(page);
});

test("while the trace is indexed its progress is shown, and a trace that grows is followed", async () => {
	const server = new ViewServer(Object.assign(new MadeTrace(), { isLive: true })), url = await server.start();

	server.done = 0.43;
	const page = await open(url, { isReady: false });
	await page.locator("progress").waitFor();
	assert(/43\s%/.test(await page.locator(".opening").innerText()), await page.locator(".opening").innerText());
	server.done = null;
	await settled(page);
	const grown = Object.assign(new MadeTrace({ whole_ns: 1.5e9, name: server.trace.name }), { isLive: true });
	server.trace = page.trace = grown;
	await page.waitForFunction(() => document.querySelector("header p").textContent.startsWith("1.50"));
	await settled(page);
	await hideOverlays(page);
	await compareLane(page, grown.lanes.find(lane => lane.kind === "process").id, await stateColours(page));
	await close(page);
	await server.stop();
});

test("ten thousand lanes are scrolled; only those in view are asked for and drawn", async () => {
	const page = await view({ processes: 20, names: 10, each: 50, mean_ns: 2e7, cpus: 8 }, { width: 1920, height: 1000 });

	for (let at; (at = await page.locator(".toggle[aria-expanded=false]").count()) > 0; ) {
		await page.locator(".toggle[aria-expanded=false]").first().click();
		if (await page.locator(".lane-list .lane").count() > 200 || at > 40)
			break;
		await page.locator(".graph-view").evaluate(view => { view.scrollTop += 200; });
		await settled(page);
	}
	await go(page, `open=${page.trace.lanes.filter(lane => lane.kind === "process" || lane.kind === "name").map(lane => lane.id).join(".")}`);
	assert(await page.locator(".head-label", { hasText: "10,229 lanes" }).count() === 1, await page.locator(".head-label").allInnerTexts());
	page.server.asked.length = 0;
	const times = await page.locator(".graph-view").evaluate(async view => {
		const times = [], frame = () => new Promise(resolve => requestAnimationFrame(resolve));
		for (let i = 0; i < 40; i++) {
			view.scrollTop = i / 39 * (view.scrollHeight - view.clientHeight);
			const begin = performance.now();
			await frame();
			await frame();
			times.push(performance.now() - begin);
		}
		return times.sort((a, b) => a - b);
	});
	note(`two frames while 10,000 lanes are scrolled: median ${times[20].toFixed(1)} ms, longest ${times[39].toFixed(1)} ms`);
	await settled(page);
	const most = Math.max(...page.server.asked.filter(path => path.startsWith("/tiles")).map(path => new URL(path, page.server.url).searchParams.get("lanes").split(",")
		.reduce((sum, part) => sum + (part.includes("-") ? part.split("-")[1] - part.split("-")[0] + 1 : 1), 0)));
	assert(most < 100, `${most} lanes are asked for at once`);
	assert(await page.locator(".lane-list .lane").count() < 100, "lanes that are not seen are in the page");
	await shot(page, "viewer-10000", false);
	await end(page);
});

test("a step of zooming or panning from tiles that are there is drawn", async () => {
	const page = await view({ processes: 1, names: 4, each: 15, cpus: 0, mean_ns: 2e5 }, { width: 1840, height: 2000 });

	const times = await page.evaluate(async () => {
		const app = document.querySelector(".graph-canvas"), times = [], frame = () => new Promise(resolve => requestAnimationFrame(resolve));
		const press = key => app.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
		for (const key of [..."wwwwssss", ..."wwwwssss"]) {		// there and back, so that tiles are there
			press(key);
			await frame();
			await frame();
			while (document.querySelector("canvas").dataset.waiting !== "0")
				await frame();
		}
		for (const key of "wdadadadadasws") {
			let begin = 0;
			requestAnimationFrame(() => { begin = performance.now(); });	// before what the key makes draw in this frame
			press(key);
			await frame();
			times.push(performance.now() - begin);
			await frame();
		}
		return times.sort((a, b) => a - b);
	});
	const { width } = await box(page), lanes = await page.locator(".lane-list .lane").count();
	note(`a step from cached tiles, ${lanes} lanes x ${Math.round(width)} pixels: median ${times[7].toFixed(1)} ms, longest ${times[13].toFixed(1)} ms`);
	assert(lanes >= 60, `${lanes} lanes`);
	await end(page);
});

test("everything is reached by keys alone", async () => {
	const page = await view(), told = () => page.locator("[aria-live=polite]").innerText();
	const focused = () => page.evaluate(() => document.activeElement.className || document.activeElement.tagName);

	for (let i = 0; i < 40 && await focused() !== "graph-canvas"; i++)
		await page.keyboard.press("Tab");
	assert(await focused() === "graph-canvas", `Tab leads to ${await focused()}`);
	for (let i = 0; i < 4; i++)
		await page.keyboard.press("ArrowDown");
	await page.waitForFunction(() => /^worker\d \d+/.test(document.querySelector("[aria-live=polite]").textContent));
	for (let i = 0; i < 12; i++)
		await page.keyboard.press("w");
	await settled(page);
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await details(page).waitFor();
	assert(/since/.test(await told()), `it says ${await told()}`);
	const search = await address(page, search => search.get("slice")), slices = page.trace.statesOf(page.trace.lanes[Number(search.get("focus"))].thread);
	assert(slices[firstBehind(slices, Number(search.get("at")))].begin === Number(search.get("at")), "the cursor is not at the begin of a slice");
	await page.keyboard.press("ArrowRight");
	const next = await address(page, found => found.get("at") !== search.get("at"));
	assert(slices[firstBehind(slices, Number(search.get("at"))) + 1].begin === Number(next.get("at")), "it is not the next slice");
	await page.keyboard.press("p");
	await page.locator(".is-pinned .lane").waitFor();
	await page.keyboard.press("Shift+ArrowRight");
	await address(page, search => search.get("sel"));
	await page.keyboard.press("f");
	await page.keyboard.press("?");
	await page.locator("dialog[open]").waitFor();
	await page.keyboard.press("Escape");
	await page.locator("dialog[open]").waitFor({ state: "detached" });
	await page.keyboard.press("/");
	assert(await page.evaluate(() => document.activeElement.getAttribute("aria-label")) === "Search lanes", "/ does not search");
	await page.keyboard.type("worker1");
	await address(page, search => search.get("lanes") === "worker1");
	await page.locator(".graph-canvas").focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement.classList.contains("details"));
	await page.keyboard.press("Tab");
	assert(await page.evaluate(() => document.activeElement.closest(".details") !== null), "Tab leaves the details at once");
	await end(page);
});

test("hostile names stay text", async () => {
	const hostile = "</script><img src=x onerror=window.hacked=1>\u202e";
	const trace = new MadeTrace();
	trace.lanes.forEach(lane => { lane.name = hostile; });
	const server = new ViewServer(trace), page = await open(await server.start());

	await settled(page);
	await page.locator(".lane .name").first().hover();
	assert(!await page.evaluate(() => window.hacked) && await page.locator("main img").count() === 0, "a name became an element");
	assert((await page.locator(".lane .name").first().innerText()).includes("\\u202e"), "a name turns the text around");
	await close(page);
	await server.stop();
});

test("fingers pan and pinch, at 360 pixels, where nothing is wider than the screen", async () => {
	const page = await view({ events: 100e6 }, { width: 360, height: 740, touch: true }), client = await page.context().newCDPSession(page);
	await canvas(page).evaluate(element => element.scrollIntoView());
	const area = await box(page);
	const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x: area.x + x, y: area.y + y, id })) });

	await touch("touchStart", [60, 200], [160, 200]);
	for (let i = 1; i <= 8; i++)
		await touch("touchMove", [60 - 5 * i, 200], [160 + 8 * i, 200]);
	await touch("touchEnd");
	const [from, to] = await seen(page, ([, to]) => to < 9e8);
	await touch("touchStart", [200, 200]);
	for (let i = 1; i <= 8; i++)
		await touch("touchMove", [200 - 15 * i, 200]);
	await touch("touchEnd");
	await seen(page, ([begin]) => begin > from);
	assert(to - from < 9e8, "pinching does nothing");
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert(over <= 0, `the page is ${over} pixels wider than the screen`);
	await page.locator(".lane.is-thread").first().click();
	await touch("touchStart", [120, 300]);
	await touch("touchEnd");
	await toEvents(page);
	await shot(page, "viewer-360");
	await end(page);
});

test("a recorded trace is looked at with pinch view itself: lanes, states, their details, events, the report of a part", async () => {
	if (!record())
		return;
	const started = await serve();

	try {
		const page = await open(started.url);
		await settled(page);
		const threads = await page.locator(".lane.is-thread .name").allInnerTexts();
		assert(threads.length >= 3, `the lanes are ${threads}`);
		await page.locator(".graph-canvas").focus();
		for (let i = 0; i < 60 && !await details(page).count(); i++) {
			await page.keyboard.press(i % 3 === 0 ? "ArrowDown" : i % 3 === 1 ? "w" : "ArrowRight");
			await settled(page);
		}
		await details(page).locator("dl").waitFor();
		assert(/length[\s\S]*\d\s(ns|us|ms|s)/.test(await details(page).innerText()), await details(page).innerText());
		await page.locator("#events").scrollIntoViewIfNeeded();
		await page.waitForFunction(() => document.querySelectorAll("#events tbody tr td").length > 20);
		await page.getByLabel("Filter by event").fill("sched.SWITCH");
		await page.waitForFunction(() => [...document.querySelectorAll("#events tbody td.is-event")].every(cell => cell.textContent === "sched.SWITCH"));
		const [first, last] = (await canvas(page).getAttribute("data-view")).split("~").map(Number);
		await go(page, `sel=${Math.round(first)}~${Math.round(last)}`);
		await page.locator("#report").scrollIntoViewIfNeeded();
		await page.locator("#verdict").waitFor();
		await page.getByRole("button", { name: "Report of the selection" }).click();
		await page.waitForFunction(() => /times count from/.test(document.querySelector("#report .about").textContent));
		await page.locator("#verdict, #report [role=alert]").first().waitFor();
		await page.evaluate(() => scrollTo(0, 0));
		await shot(page, "viewer-recorded", false);
		await close(page);
	} finally {
		await stop(started.child);
	}
});

for (const scheme of ["light", "dark"])
	for (const width of [1920, 1280, 360])
		test(`axe-core finds no serious fault, ${width} pixels wide, in the ${scheme}`, async () => {
			const page = await view({}, { scheme, width, height: 1000 }), thread = page.trace.lanes.find(lane => lane.kind === "thread");

			const slice = page.trace.statesOf(thread.thread).find((slice, i) => i > 20 && slice.share === 4);
			await go(page, `view=${slice.begin - 3e6}~${slice.end + 3e6}&slice=${thread.id}@${slice.begin}&sel=${slice.begin}~${slice.end}&pin=${thread.id}&focus=${thread.id}`);
			await details(page).locator("h4").first().waitFor();
			await toEvents(page);
			await page.locator("#events tbody tr").nth(3).click();
			await page.evaluate(() => scrollTo(0, 0));
			await settled(page);
			await shot(page, `viewer-${width}-${scheme}`, false);
			const found = await faults(page);
			assert(!found.length, found.join("\n"));
			await end(page);
		});

await main();
