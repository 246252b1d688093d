// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view of what is being recorded, in a browser: a command, a process, a file that somebody writes. Screenshots stay in $O/web-shots.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, BUILD, close, directory, faults, main, note, open, shot, test } from "./browser.mjs";

const PINCH = join(BUILD, "pinch"), LIMIT_MS = 60000;

/** Threads take turns with a lock; one more whenever the file "more" has another line, until there is a file "stop": then it exits with 3. */
const PROGRAM = `
import os, sys, threading, time
lock = threading.Lock()
def work():
    while not os.path.exists("stop"):
        with lock:
            time.sleep(0.002)
        time.sleep(0.001)
threads = [threading.Thread(target=work, name="turn") for _ in range(2)]
[t.start() for t in threads]
while not os.path.exists("stop"):
    while os.path.exists("more") and len(threads) < 2 + os.path.getsize("more"):
        threads.append(threading.Thread(target=work))
        threads[-1].start()
    time.sleep(0.02)
[t.join() for t in threads]
sys.exit(3)
`;

const started = [];

/** A child and the link that it prints; said: all that it says. */
class Started {
	constructor(command, cwd) {
		this.said = "";
		started.push(this);
		this.child = spawn(command[0], command.slice(1), { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });
		this.ended = new Promise(resolve => this.child.on("exit", (status, signal) => resolve(status ?? signal)));
		this.child.stdout.on("data", bytes => { this.said += bytes; });
		this.child.stderr.on("data", bytes => { this.said += bytes; });
	}

	async link(n = 0) {
		const limit = Date.now() + LIMIT_MS;

		for (;;) {
			const links = this.said.match(/http:\S*token=[0-9a-f]+/g) ?? [];
			if (links[n])
				return links[n];
			assert(this.child.exitCode === null && Date.now() < limit, `there is no link: ${this.said}`);
			await new Promise(resolve => setTimeout(resolve, 20));
		}
	}

	/** Its exit status. */
	async end(signal = "SIGINT") {
		this.child.kill(signal);
		return this.ended;
	}
}

const made = [];

function place() {
	const path = mkdtempSync(join(directory, "live-"));

	writeFileSync(join(path, "program.py"), PROGRAM);
	made.push(path);
	return path;
}

/** Whether this machine can trace. */
function canTrace() {
	try {
		execFileSync(PINCH, ["record", "-q", "-o", join(directory, "can.pinch"), "--", "true"], { stdio: "pipe" });
		return true;
	} catch (error) {
		note(`skipped: recording needs root and a built pinch: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

/** How long the trace is that the page tells of, in s. */
const length = page => page.evaluate(() => {
	const [, number, unit] = /([\d.]+)\s*(ns|us|ms|s|min)\b/.exec(document.querySelector("header p").textContent);
	return Number(number) * { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60 }[unit];
});
const bar = page => page.locator(".live");
const button = (page, name) => bar(page).getByRole("button", { name, exact: true });

async function isLonger(page, than) {
	const limit = Date.now() + LIMIT_MS;

	while (await length(page) <= than) {
		assert(Date.now() < limit, `the trace stays ${await length(page)} s long`);
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
	}
}

/** Until the page says that the trace is longer, and by how much. */
async function grown(page, by = 0.5) {
	await isLonger(page, await length(page) + by);
}

async function drawn(page) {
	await page.waitForFunction(() => document.querySelector(".graph-canvas canvas")?.dataset.waiting === "0");
}

/** Two frames later. */
function drawnOnce(page) {
	return page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** What the address says. */
const said = page => new URLSearchParams(new URL(page.url()).hash.slice(1));

/** Until it says something. */
function says(page, name, isThere = true) {
	return page.waitForFunction(([name, isThere]) => new URLSearchParams(location.hash.slice(1)).has(name) === isThere, [name, isThere]);
}

async function end(page) {
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));
	await close(page);
}

test("a command is seen while it runs: followed, left, paused, saved, and to its end", async () => {
	if (!canTrace())
		return;
	const path = place(), view = new Started([PINCH, "view", "--", "/usr/bin/python3", "program.py"], path), page = await open(await view.link());

	await bar(page).getByText("Recording").waitFor();
	await says(page, "follow");
	assert(await button(page, "Follow").getAttribute("aria-pressed") === "true", "it does not follow");
	await grown(page, 1);
	const threads = await page.locator(".lane.is-thread").count();
	writeFileSync(join(path, "more"), "12");
	await page.waitForFunction(n => document.querySelectorAll(".lane.is-thread").length >= n, threads + 2);
	await isLonger(page, 3);
	await shot(page, "live-recording");
	assert(!(await faults(page)).length, `axe: ${await faults(page)}`);
	await page.setViewportSize({ width: 360, height: 740 });
	await drawnOnce(page);
	assert(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, "it is wider than the window");
	await shot(page, "live-recording-360", false);
	await page.setViewportSize({ width: 1280, height: 900 });
	await drawnOnce(page);

	const box = await page.locator(".graph-canvas canvas").boundingBox();		// whoever drags stays where that leads
	await page.mouse.move(box.x + box.width / 2, box.y + 200);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.7, box.y + 200, { steps: 5 });
	await page.mouse.up();
	await says(page, "view");
	assert(await button(page, "Follow").getAttribute("aria-pressed") === "false", "it still follows");
	const view_before = said(page).get("view");
	await grown(page, 1);
	assert(said(page).get("view") === view_before, `the view moved from ${view_before} to ${said(page).get("view")}`);
	await drawn(page);
	await page.locator(".graph-canvas").focus();
	await page.keyboard.press("e");
	await says(page, "follow");

	await button(page, "Pause").click();
	await bar(page).getByText("Paused").waitFor();
	const before = await length(page), asked = page.waitForResponse(response => new URL(response.url()).pathname === "/now");
	await asked;
	await page.waitForResponse(response => new URL(response.url()).pathname === "/now");
	assert(await length(page) === before, "a paused page grows");
	await shot(page, "live-paused", false);
	await button(page, "Pause").click();
	await grown(page, 0.5);

	const download = page.waitForEvent("download");
	await bar(page).getByText("Save", { exact: true }).click();
	const saved = join(path, "saved.pinch");
	await (await download).saveAs(saved);
	assert(/\d/.test(execFileSync(PINCH, ["dump", saved], { encoding: "utf8", maxBuffer: 1 << 28 }).split("\n")[5]), "what was saved is no trace");

	writeFileSync(join(path, "stop"), "");
	await bar(page).getByText("The command has ended with exit status 3.").waitFor();
	await page.waitForFunction(() => !document.querySelector(".live button"));
	const whole = await length(page);
	await drawn(page);
	await page.locator(".graph-canvas").focus();
	for (let i = 0; i < 200 && !await page.locator(".details dl").count(); i++) {		// what a key leads to may have no details
		await page.keyboard.press(i % 3 === 0 ? "ArrowDown" : i % 3 === 1 ? "w" : "ArrowRight");
		await drawnOnce(page);
	}
	await page.locator(".details dl").waitFor();
	await shot(page, "live-ended");
	assert(await length(page) === whole, "it still grows");
	assert(!await page.locator("[role=alert]").count(), await page.locator("[role=alert]").allInnerTexts());
	await end(page);
	const status = await view.end();
	assert(status === 0, `exit status ${status}: ${view.said}`);
	assert(!existsSync(/\/var\/tmp\/pinch-view-\w+/.exec(view.said)?.[0] ?? "/nothing"), "it leaves its trace behind");
});

await main();
for (const { child } of started)		// of a test that failed
	if (child.exitCode === null)
		child.kill("SIGKILL");
