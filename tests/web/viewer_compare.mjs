// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view of two traces, in a browser: what is seen of one is seen of the other, and what differs between them. Traces are recorded for it.
// Screenshots stay in $O/web-shots.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, close, directory, faults, main, open, section, shot, test } from "./browser.mjs";
import { address } from "./view_page.mjs";
import { PINCH, record, serve, stop } from "./view_process.mjs";

const LIMIT_MS = 1000 * (process.env.LIMIT_S ?? 60), NS_PER_MS = 1e6, SUMMED = 1.5;

/** Threads hold a lock in turns, for so many ms; a thread with the name of the second argument lives beside them. */
const PROGRAM = `
import ctypes, sys, threading, time
held_s, name = float(sys.argv[1]) / 1000, sys.argv[2]
lock = threading.Lock()
def named(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
def work():
    named("turn")
    for _ in range(40):
        with lock:
            time.sleep(held_s)
def beside():
    named(name)
    time.sleep(0.05)
threads = [threading.Thread(target=work) for _ in range(2)] + [threading.Thread(target=beside)]
[t.start() for t in threads]
[t.join() for t in threads]
`;

let traces = null;

/** Two traces of the same program: the second holds the lock for longer. */
function recorded() {
	if (traces)
		return traces;
	writeFileSync(join(directory, "turns.py"), PROGRAM);
	traces = [["fast", "2", "early"], ["slow", "4", "late"]].map(([trace, ...words]) => {
		record(`${trace}.pinch`, [], ["/usr/bin/python3", "turns.py", ...words]);
		return `${trace}.pinch`;
	});
	return traces;
}

const graph = (page, side) => page.locator(`.side-${side} .graph-canvas canvas`);
const viewOf = async (page, side) => (await graph(page, side).getAttribute("data-view")).split("~").map(Number);

/** Until both pictures are there. */
async function settled(page) {
	const isDrawn = () => [...document.querySelectorAll(".graph-canvas canvas")].filter(canvas => canvas.dataset.waiting === "0").length === 2;

	await page.waitForFunction(isDrawn);
	await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	await page.waitForFunction(isDrawn);
}

/** Opens the same page with another fragment, as one does who edits the address. */
async function go(page, fragment) {
	await page.evaluate(hash => {
		history.replaceState(history.state, "", "#" + hash);
		dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
	}, fragment);
	await settled(page);
}

async function view(how = {}) {
	const { child, link } = await serve(recorded()), page = await open(link, { isReady: false, ...how });

	page.server = child;
	await page.locator(".side-b canvas").waitFor();
	await settled(page);
	return page;
}

async function end(page) {
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));	// it is this test that reads
	await close(page);
	await stop(page.server);
}

const json = (page, path) => page.evaluate(path => fetch(path).then(response => response.json()), path);

/** A time in which threads take turns on both sides. */
async function inTurns(page) {
	const traces = [await json(page, "/trace"), await json(page, "/b/trace")];
	const begin_ns = Math.max(...traces.flatMap(trace => trace.lanes.filter(lane => lane.name === "turn" && lane.kind === "thread").map(lane => lane.begin_ns)));

	return [begin_ns + 5 * NS_PER_MS, begin_ns + 45 * NS_PER_MS];
}

/** Both sides show the same time, but for the offset. */
async function assertSame(page, offset_ns, why) {
	const [a, b] = [await viewOf(page, "a"), await viewOf(page, "b")];

	assert(a.every((ns, i) => Math.abs(b[i] - ns - offset_ns) <= 1), `${why}: ${a} and ${b}, not ${offset_ns} later`);
	return a;
}

test("two traces are drawn one above the other, and zooming and moving in one moves the other", async () => {
	const page = await view(), traces = [await json(page, "/trace"), await json(page, "/b/trace")];
	const wholes = traces.map(trace => trace.whole_ns), begins = traces.map(trace => trace.begin_ns);

	const [from, to] = await assertSame(page, 0, "at first");
	assert(from === Math.min(...begins) && to === Math.max(...wholes), `${from} to ${to} of ${begins} to ${wholes}`);
	for (const side of ["a", "b"]) {
		const colours = await graph(page, side).evaluate(canvas => new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size);
		assert(colours > 4, `${side} has ${colours} colours`);
		const box = await graph(page, side).boundingBox(), before = await viewOf(page, side);
		await page.mouse.move(box.x + box.width / 2, box.y + 100);
		await page.mouse.wheel(0, -400);
		await page.waitForFunction(([side, before]) => document.querySelector(`.side-${side} .graph-canvas canvas`).dataset.view !== before, [side, before.join("~")]);
		await settled(page);
		const zoomed = await assertSame(page, 0, `zoomed in ${side}`);
		assert(zoomed[1] - zoomed[0] < before[1] - before[0], "it is no nearer");
		await page.mouse.down();
		await page.mouse.move(box.x + box.width / 2 + 80, box.y + 100, { steps: 4 });
		await page.mouse.up();
		await settled(page);
		const moved = await assertSame(page, 0, `moved in ${side}`);
		assert(moved[0] !== zoomed[0], "it has not moved");
	}
	await shot(page, "compare-zoomed", false);
	await end(page);
});

test("where the pointer is on one side is shown on the other", async () => {
	const page = await view(), accent = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim());
	const isLine = x => graph(page, "b").evaluate((canvas, [x, accent]) => {
		const { data } = canvas.getContext("2d").getImageData(x, canvas.height - 4, 1, 1);
		return "#" + [...data].slice(0, 3).map(one => one.toString(16).padStart(2, "0")).join("") === accent;
	}, [x, accent]);
	const box = await graph(page, "a").boundingBox(), limit = Date.now() + LIMIT_MS;

	assert(!await isLine(300), "there is a line before");
	await page.mouse.move(box.x + 300, box.y + 90);
	while (!await isLine(300))
		assert(Date.now() < limit, "there is no line at the pointer");
	await end(page);
});

test("one offset moves the second side against the first, by hand and by two chosen moments; the link has it", async () => {
	const page = await view(), later = page.getByLabel("B is later by");

	await go(page, `view=${(await inTurns(page)).join("~")}`);

	await later.fill("5");
	await later.press("Enter");
	await address(page, search => search.get("offset") === String(5 * NS_PER_MS));
	await settled(page);
	await assertSame(page, 5 * NS_PER_MS, "5 ms later");
	const places = [];
	for (const side of ["a", "b"]) {
		const lane = page.locator(`.side-${side} .lane.is-thread`, { hasText: "turn" }).first();
		await lane.scrollIntoViewIfNeeded();
		const row = await lane.boundingBox(), box = await graph(page, side).boundingBox();
		await page.mouse.click(box.x + (side === "a" ? 200 : 500), row.y + row.height / 2);
		const words = await address(page, search => search.get(side === "a" ? "slice" : "b.slice"));
		places.push(Number(words.get(side === "a" ? "slice" : "b.slice").split("@")[1]));
	}
	await page.getByRole("button", { name: "Align here" }).click();
	await address(page, search => Number(search.get("offset") ?? 0) === places[1] - places[0]);
	await settled(page);
	await assertSame(page, places[1] - places[0], "aligned");
	const link = new URL(page.url()).hash.slice(1), views = [await viewOf(page, "a"), await viewOf(page, "b")];
	await page.reload();
	await page.locator(".side-b canvas").waitFor();
	await settled(page);
	assert(String(views) === String([await viewOf(page, "a"), await viewOf(page, "b")]), `the link ${link} opens another picture`);
	assert(await page.locator(".side-b .details h3").first().count() === 1, "the details of B are not in the link");
	const [first, second] = [await json(page, "/trace"), await json(page, "/b/trace")];
	await page.getByRole("button", { name: "Align begins" }).click();
	await settled(page);
	await assertSame(page, second.begin_ns - first.begin_ns, "aligned again");
	await end(page);
});

/** What the differences say, as they are on the page. */
function differences(page) {
	return page.locator(".differences tbody tr").evaluateAll(rows => rows.map(row => ({ name: row.dataset.name, state: row.dataset.state, text: row.textContent,
		ns: [...row.querySelectorAll("[data-ns]")].map(cell => Number(cell.dataset.ns)) })));
}

/** The same by the server of each side: ns by name of threads and state. */
async function summed(page, range) {
	const sides = [];

	for (const prefix of ["/", "/b/"]) {
		const trace = await json(page, `${prefix}trace`), sums = new Map(), threads = trace.lanes.filter(lane => lane.kind === "thread");
		const [from, to] = range ?? [trace.begin_ns, trace.whole_ns];
		const stretch = await json(page, `${prefix}stretch?from=${from}&to=${to}&lanes=${threads.map(lane => lane.id).sort((a, b) => a - b).join()}`);
		for (const { lane, ns } of stretch.lanes)
			ns.forEach((one, share) => {
				const key = `${trace.lanes[lane].name.replace(/\d+/g, "*")}/${trace.shares[share]}`;
				sums.set(key, (sums.get(key) ?? 0) + one);
			});
		sides.push(sums);
	}
	return sides;
}

/** Of all rows, once they are of this time. */
async function compareSums(page, range) {
	const [a, b] = await summed(page, range), limit = Date.now() + LIMIT_MS;

	for (;;) {
		const rows = await differences(page), key = row => `${row.name.split(": ").pop()}/${row.state}`;
		const wrong = rows.find(row => row.ns[0] !== (a.get(key(row)) ?? 0) || row.ns[1] !== (b.get(key(row)) ?? 0) || row.ns[2] !== row.ns[1] - row.ns[0]);
		const all = sums => [...sums.values()].reduce((sum, one) => sum + one, 0);
		if (rows.length && !wrong && [a, b].every((sums, i) => rows.reduce((sum, row) => sum + row.ns[i], 0) === all(sums)))
			return rows;
		assert(Date.now() < limit, `${JSON.stringify(wrong ?? rows)}, not ${wrong && [a.get(key(wrong)), b.get(key(wrong))]}`);
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
	}
}

test("differences are what both sides say, to the nanosecond, of all the time and of the selected time, the largest first", async () => {
	const page = await view(), range = await inTurns(page), rows = await compareSums(page, null);

	assert(rows.every((row, i) => !i || Math.abs(rows[i - 1].ns[2]) >= Math.abs(row.ns[2])), "they are not in order");
	const lock = rows.find(row => row.name.endsWith("turn") && ["lock", "semaphore"].includes(row.state) && row.ns[1] > SUMMED * row.ns[0]);
	assert(lock, `the lock is not held for longer: ${JSON.stringify(rows)}`);
	for (const [name, side] of [["early", "A"], ["late", "B"]])
		assert(rows.some(row => row.name.endsWith(name) && row.text.includes(`only in ${side}`)), `${name} is not said to be only in ${side}`);
	await page.getByLabel("Search lanes").fill("early");
	await page.locator(".side-a .lane", { hasText: /early.*only here/ }).waitFor();
	await go(page, `sel=${range.join("~")}`);
	await compareSums(page, range);
	await page.locator("#differences").scrollIntoViewIfNeeded();
	await shot(page, "compare-differences", false);
	await end(page);
});

test("the comparison is what pinch compare says, of all the time and of the selected time", async () => {
	const page = await view(), files = recorded();

	await page.locator("#report").scrollIntoViewIfNeeded();
	await page.locator("#verdict .findings li").first().waitFor();
	const said = JSON.parse(execFileSync(PINCH, ["compare", "--json", "-", ...files], { cwd: directory, stdio: ["ignore", "pipe", "ignore"] }));
	const shown = await page.locator("#verdict .findings li").count();
	assert(shown === said.reasons.length && shown > 0, `${shown} reasons, not ${said.reasons.length}`);
	await (await section(page, "graph")).locator("svg").first().waitFor();
	await shot(page, "compare-report", false);
	await go(page, `sel=${(await inTurns(page)).join("~")}`);
	await page.getByRole("button", { name: "Compare the selection" }).click();
	await page.getByText(/^A: all threads, \d.* to .*; B: all threads, \d.* to /).waitFor();
	await page.locator("#verdict").waitFor();
	await end(page);
});

test("one filter holds for both sides, and lanes of the same name open and close together", async () => {
	const page = await view();

	await page.getByLabel("Only this thread").fill("turn");
	await settled(page);
	for (const side of ["a", "b"]) {
		assert(await page.locator(`.side-${side} .lane.is-thread`).count() === 2, `${side} has other lanes`);
		await page.locator(`.side-${side} .lane.is-thread`, { hasText: "turn" }).first().waitFor();
	}
	await page.getByLabel("Only this thread").fill("");
	await settled(page);
	const close = page.locator(".side-a .lane .toggle[aria-expanded=true]").first(), title = (await close.getAttribute("aria-label")).replace(/\d+$/, "");
	const isOpen = side => page.locator(`.side-${side} .lane .toggle[aria-label^="${title}"]`).count();
	const before = await isOpen("b");
	await close.click();
	await settled(page);
	assert(await isOpen("b") === before - 1, `it is as open in B: ${before}`);
	await end(page);
});

test("with keys alone the graphs are moved, and a state of each is chosen", async () => {
	const page = await view();

	for (const side of ["b", "a"]) {
		await page.locator(`.side-${side} .graph-canvas`).focus();
		const before = (await viewOf(page, "a")).join("~");
		await page.keyboard.press("w");
		await page.waitForFunction(before => document.querySelector(".side-a .graph-canvas canvas").dataset.view !== before, before);
		await settled(page);
		await assertSame(page, 0, `keys in ${side}`);
		const chosen = search => search.get(side === "a" ? "slice" : "b.slice");
		for (let i = 0; i < 6 && !chosen(await address(page)); i++) {
			await page.keyboard.press("ArrowDown");
			await page.keyboard.press("ArrowRight");
			const isThread = await page.locator(`.side-${side} .lane.is-thread.is-focused`).count();
			if (isThread) {
				await page.keyboard.press("Enter");
				await address(page, chosen);
			}
		}
		assert(chosen(await address(page)), `no state of ${side} is chosen`);
	}
	const places = ["slice", "b.slice"].map(name => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name)).map(place => Number(place.split("@")[1]));
	await page.getByRole("button", { name: "Align here" }).focus();
	await page.keyboard.press("Enter");
	await address(page, search => Number(search.get("offset") ?? 0) === places[1] - places[0]);
	await end(page);
});

test("without serious faults of accessibility, light and dark, and at 360 px", async () => {
	for (const how of [{ scheme: "light" }, { scheme: "dark" }, { width: 360, height: 740, touch: true }]) {
		const page = await view(how), name = how.scheme ?? "360";
		await page.locator(".differences tbody tr").first().waitFor();
		const found = await faults(page);
		assert(!found.length, `${name}: ${JSON.stringify(found)}`);
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: the page is wider than the window`);
		await shot(page, `compare-${name}`, false);
		await end(page);
	}
});

await main();
