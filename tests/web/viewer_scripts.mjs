// SPDX-License-Identifier: GPL-2.0-or-later
// The tab of scripts in a browser, with pinch view itself and a trace that is recorded here. Screenshots stay in $O/web-shots.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, close, directory, faults, main, open, shot, test } from "./browser.mjs";
import { PINCH, record, serve, stop, TRACE } from "./recorded_view.mjs";
import { address, canvas, downloaded, go, settled } from "./view_page.mjs";

const FILTER = "function filter(event)\n\treturn event.name == 'sched.WAKE'\nend\n";

async function view(how = {}) {
	const { child, url } = await serve(), page = await open(url, how);

	page.child = child;
	await settled(page);
	await page.locator("#scripts").scrollIntoViewIfNeeded();
	return page;
}

async function end(page) {
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));
	await close(page);
	await stop(page.child);
}

const editor = page => page.getByLabel("Script in Lua"), result = page => page.locator(".script-result");
/** Until the result has the text; else why not. */
async function says(page, text) {
	await page.waitForFunction(text => document.querySelector(".script-result")?.textContent.includes(text), text)
		.catch(async error => assert(false, `${await result(page).textContent()} ${page.url()}: ${error}`));
}
const rows = page => page.locator("#events .tools [role=status]").textContent();

/** Until the list has so many rows; else what it says. */
async function hasRows(page, count) {
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.waitForFunction(count => Number(document.querySelector("#events .tools [role=status]")?.textContent.replace(/^at least.*/, "").replace(/ (event|activit)[^]*/, "").replace(/[^\d]/g, "") || NaN) === count, count)
		.catch(async error => assert(false, `${await rows(page)}, and not ${count}: ${error}`));
}

async function run(page, text) {
	await editor(page).fill(text);
	await page.getByRole("button", { name: "Run", exact: true }).click();
}

function dump(script, ...options) {
	const file = join(directory, "dumped.lua");

	writeFileSync(file, script);
	return execFileSync(PINCH, ["dump", ...options, "--script", file, TRACE], { maxBuffer: 1 << 28 }).toString().trimEnd().split("\n");
}

test("a decoder is written and run: its activities are those of pinch dump, in the list and in the graph", async () => {
	if (!record())
		return;
	const page = await view(), script = await editor(page).inputValue();

	await page.getByRole("button", { name: "Run", exact: true }).click();
	await says(page, "The trace is read");
	const found = Number((await result(page).textContent()).replace(/^.*; (\S+) activit[^]*$/, "$1").replace(/[^\d]/g, ""));
	assert(found === dump(script, "--activities").length && found > 50, `${found} activities`);
	await page.locator("#events").getByRole("button", { name: "Activities" }).click();
	await page.waitForFunction(() => document.querySelector("#events tbody td.is-event")?.textContent === "off CPU");
	await hasRows(page, found);
	await address(page, search => search.get("script") === "off_cpu.lua");
	await page.locator("#scripts").scrollIntoViewIfNeeded();
	await shot(page, "scripts-decoder", false);
	await page.getByRole("button", { name: "Use none" }).click();
	await hasRows(page, 0);
	await end(page);
});

test("a filter chooses the events that pinch dump chooses with it, and stands in the menu of filters of another page", async () => {
	if (!record())
		return;
	const page = await view(), expected = dump(FILTER).length, all = dump("function filter() return true end").length;

	await page.getByLabel("Name of the script").fill("wakes");
	await run(page, FILTER);
	await says(page, "its filter chooses events");
	await hasRows(page, expected);
	await page.locator("#scripts").getByRole("button", { name: "Save", exact: true }).click();
	await address(page, search => search.get("script") === "wakes.lua");
	await page.reload();
	await settled(page);
	await page.waitForFunction(() => document.querySelector("select[aria-label='Script in use']")?.value === "wakes.lua")
		.catch(async error => assert(false, `${page.url()} ${await page.locator("select[aria-label='Script in use']").evaluateAll(all => all.map(one => one.outerHTML))}: ${error}`));
	await page.locator("#events").scrollIntoViewIfNeeded();
	await hasRows(page, expected);
	await page.getByLabel("Script in use").selectOption("");
	await hasRows(page, all);
	await end(page);
});

test("an error stands beside the editor, and leads to its line; an endless loop ends by itself, and a slow script is stopped", async () => {
	if (!record())
		return;
	const page = await view();

	await run(page, "-- one\nfunction on_event(event)\n\terror('wrong <b>here</b>')\nend\n");
	await says(page, ".lua:3: wrong <b>here</b>");
	await page.getByRole("button", { name: "Go to line 3" }).click();
	assert(await editor(page).evaluate(one => one.value.slice(one.selectionStart, one.selectionEnd)) === "\terror('wrong <b>here</b>')", "another line is selected");
	await shot(page, "scripts-error", false);
	await run(page, "while true do end");
	await says(page, ".lua:1: stopped");
	await run(page, "function filter() for i = 1, 1e5 do end return true end");
	await says(page, "Running");
	await page.getByRole("button", { name: "Stop", exact: true }).click();
	await says(page, "Read up to");
	await run(page, `-- ${"x".repeat(65536)}`);
	await says(page, "more than 64 KB");
	await end(page);
});

test("scripts are saved, deleted, downloaded and loaded, by keys too; a link to a script that the browser does not have says so and runs nothing", async () => {
	if (!record())
		return;
	const page = await view();

	await page.getByLabel("Name of the script").fill("my script.lua");
	await editor(page).fill(FILTER);
	await page.keyboard.press("Control+Enter");
	await says(page, "its filter chooses events");
	const file = await downloaded(page, "Download");
	assert(file.name === "my_script.lua" && file.bytes.toString() === FILTER, file.name);
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await page.locator("input[type=file]").setInputFiles({ name: "other.lua", mimeType: "text/plain", buffer: Buffer.from("-- loaded\n") });
	await page.waitForFunction(() => document.querySelector(".script-text").value === "-- loaded\n");
	await page.getByLabel("Saved scripts").selectOption("my_script.lua");
	assert(await editor(page).inputValue() === FILTER, "another script is shown");
	await page.getByRole("button", { name: "Delete" }).click();
	await address(page, search => search.get("script") === "my_script.lua");
	await page.reload();
	await settled(page);
	await page.locator("#scripts").scrollIntoViewIfNeeded();
	await says(page, "uses the script my_script.lua, which this browser does not have");
	await end(page);
});

const tables = page => page.locator(".statistics-table");

/** What the table of that number shows in the column, row by row. */
const cells = (page, table, column) => tables(page).nth(table).locator(`tbody tr:not(.spacer) td:nth-child(${column})`).allInnerTexts();

function dumpedTables(script, ...options) {
	return dump(script, "--statistics", "--json", ...options).map(line => JSON.parse(line));
}

/** Until statistics are there that are no other filters' or times'. */
async function computed(page, words) {
	await page.waitForFunction(words => [...document.querySelectorAll(".statistics [role=status]")].some(one => one.textContent.includes(words)), words)
		.catch(async error => assert(false, `${await page.locator(".statistics").allInnerTexts()} ${await result(page).textContent()}: ${error}`));
}

test("an example's statistics are those of pinch dump, as charts and as tables that are sorted by keys; they follow the selected time and the filters", async () => {
	if (!record())
		return;
	const page = await view();

	await page.getByLabel("Examples of scripts").selectOption("threads.lua");
	const script = await editor(page).inputValue(), [kinds, threads] = dumpedTables(script);
	await page.getByRole("button", { name: "Run", exact: true }).click();
	await computed(page, "Of all events.");
	assert(await tables(page).count() === 2 && await tables(page).first().locator("h3").first().innerText() === kinds.title, "other tables");
	await tables(page).first().locator("summary").click();
	assert(JSON.stringify(await cells(page, 0, 1)) === JSON.stringify(kinds.rows.map(row => row[0])), `${await cells(page, 0, 1)}`);
	assert((await cells(page, 1, 3)).map(text => Number(text.replace(/,/g, ""))).join() === threads.rows.map(row => row[2]).join(), `${await cells(page, 1, 3)}`);
	assert(await tables(page).first().locator("svg.bars rect").count() === Math.min(30, kinds.rows.length), "bars");
	await tables(page).first().scrollIntoViewIfNeeded();
	await shot(page, "statistics-bars", false);
	await tables(page).first().locator("th button").first().focus();
	await page.keyboard.press("Enter");
	assert(JSON.stringify(await cells(page, 0, 1)) === JSON.stringify(kinds.rows.map(row => row[0]).sort()), "it is not sorted by name");
	const to = 1e8, from = 5e7;
	await address(page, search => search.get("script") === "threads.lua");
	await page.getByLabel("Filter by event").fill("SWITCH");
	await computed(page, "what the filters choose");
	const [switches] = dumpedTables(script, "--event", "SWITCH");
	await page.waitForFunction(() => document.querySelector(".statistics-table").querySelectorAll("tbody tr:not(.spacer)").length === 1);
	assert(await cells(page, 0, 2).then(([text]) => Number(text.replace(/,/g, ""))) === switches.rows[0][1], "other switches");
	await page.getByLabel("Filter by event").fill("");
	await computed(page, "Of all events.");
	await go(page, `script=threads.lua&sel=${from}~${to}`);
	await computed(page, "Of the selected");
	const [part] = dumpedTables(script, "--from", `${from}ns`, "--to", `${to}ns`), sum = part.rows.reduce((all, row) => all + row[1], 0);
	assert((await cells(page, 0, 2)).reduce((all, text) => all + Number(text.replace(/,/g, "")), 0) === sum, `${await cells(page, 0, 2)}, and not ${sum}`);
	await end(page);
});

test("lines and histograms are drawn, in the dark and at 360 px; no serious fault for assistive technology", async () => {
	if (!record())
		return;
	for (const [width, scheme] of [[1280, "light"], [360, "dark"]]) {
		const page = await view({ width, scheme });
		await page.getByLabel("Examples of scripts").selectOption("off_cpu.lua");
		await run(page, `${await editor(page).inputValue()}
local first = finish
function finish()
	first()
	statistics { title = "<b>Sizes</b>", show = "histogram", columns = { { name = "from", unit = "bytes" }, { name = "count", unit = "count" } }, rows = { { 1, 3 }, { 1024, 5 }, { 2048, 0 }, { 4096, 0 / 0 } } }
end`);
		await computed(page, "Of all events.");
		assert(await page.locator(".statistics-line path.line").count() === 1 && await tables(page).count() === 3, `${await tables(page).count()} tables`);
		assert(await tables(page).nth(2).locator("svg.histogram rect").count() === 3 && await tables(page).nth(2).locator("h3").first().innerText() === "<b>Sizes</b>", "another histogram");
		const found = await faults(page);
		assert(!found.length, `${width} ${scheme}: ${JSON.stringify(found)}`);
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} px: it scrolls sideways`);
		await tables(page).nth(1).locator("h3").first().evaluate(one => one.scrollIntoView());
		await shot(page, `statistics-${width}-${scheme}`, false);
		await end(page);
	}
});

test("arrows of wake-ups in the graph are those that the filter of the script chooses", async () => {
	if (!record())
		return;
	const page = await view();

	let all = 0;
	for (let begin = 20e6; all < 3; begin += 20e6) {		// how the run went, nobody knows
		assert(begin < 1e9, "there are no wake-ups");
		await go(page, `view=${begin}~${begin + 20e6}`);
		await settled(page);
		all = Number(await canvas(page).getAttribute("data-wakes"));
	}
	await run(page, "function filter(event)\n\treturn event.name ~= 'sched.WAKE'\nend\n");
	await says(page, "its filter chooses events");
	await page.waitForFunction(() => document.querySelector(".graph-canvas canvas").dataset.wakes === "0");
	await run(page, FILTER);
	await says(page, "its filter chooses events");
	await page.waitForFunction(all => Number(document.querySelector(".graph-canvas canvas").dataset.wakes) === all, all);
	await page.getByRole("button", { name: "Use none" }).click();
	await page.waitForFunction(all => Number(document.querySelector(".graph-canvas canvas").dataset.wakes) === all, all);
	await end(page);
});

test("the tab has no serious fault for assistive technology, light and dark, and fits into 360 px", async () => {
	if (!record())
		return;
	for (const [width, scheme] of [[1280, "light"], [360, "dark"]]) {
		const page = await view({ width, scheme });
		await run(page, "function on_event(e)\n\terror('x')\nend");
		await says(page, "Go to line 2");
		const found = await faults(page);
		assert(!found.length, `${width} ${scheme}: ${JSON.stringify(found)}`);
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} px: it scrolls sideways`);
		await page.locator("#scripts").scrollIntoViewIfNeeded();
		await shot(page, `scripts-${width}-${scheme}`, false);
		await end(page);
	}
});

await main();
