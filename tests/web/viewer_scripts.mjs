// SPDX-License-Identifier: GPL-2.0-or-later
// The tab of scripts in a browser, with pinch view itself and a trace that is recorded here. Screenshots stay in $O/web-shots.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, BUILD, close, directory, faults, main, note, open, shot, test } from "./browser.mjs";
import { address, downloaded, settled } from "./view_page.mjs";

const PINCH = join(BUILD, "pinch"), TRACE = join(directory, "scripts.pinch");
const RECORDED = `
import threading, time
lock = threading.Lock()
def work():
    for _ in range(40):
        with lock:
            time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
`;
const FILTER = "function filter(event)\n\treturn event.name == 'sched.WAKE'\nend\n";

/** Whether a trace can be recorded here: skipped, and said, where it cannot. */
function record() {
	if (process.getuid() !== 0 || !existsSync(PINCH)) {
		note("skipped: recording needs root and a built pinch");
		return false;
	}
	if (existsSync(TRACE))
		return true;
	try {
		execFileSync(PINCH, ["record", "-o", TRACE, "--", "python3", "-c", RECORDED], { stdio: "pipe" });
		return true;
	} catch (error) {
		note(`skipped: no trace can be recorded here: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

/** A server with the trace; its link is printed. */
async function serve() {
	const child = spawn(PINCH, ["view", "--port", "0", TRACE], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });
	const url = await new Promise((resolve, reject) => {
		let said = "";
		const take = bytes => {
			said += bytes;
			const match = /http:\S*token=[0-9a-f]+/.exec(said);
			if (match)
				resolve(match[0]);
		};
		child.stdout.on("data", take);
		child.stderr.on("data", take);
		child.once("exit", () => reject(new Error(`pinch view ended: ${said}`)));
	});

	process.on("exit", () => child.kill("SIGINT"));	// a test that fails leaves it behind
	child.unref();
	child.stdout.unref();
	child.stderr.unref();
	return { child, url };
}

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
	const ended = new Promise(resolve => page.child.on("exit", resolve));
	page.child.kill("SIGINT");
	await ended;
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
