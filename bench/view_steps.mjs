// SPDX-License-Identifier: GPL-2.0-or-later
// How fast the page of pinch view draws a trace in Chromium: node bench/view_steps.mjs TRACE. The time from the link to the first picture; of
// steps to random ranges, none of which was seen before, how long until all of the picture is there; of the same steps again, how long drawing
// keeps the page busy: the tiles are there then. Environment: O, the build directory.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { BUILD, open, start, stop } from "../tests/web/browser.mjs";

const STEPS = 60, SIZE = { width: 1800, height: 1300 };

let seed = 1;

/** From 0 to 1; the same each time. */
function random() {
	seed = (seed * 1103515245 + 12345) % 2 ** 31;
	return seed / 2 ** 31;
}

function percentile(times, part) {
	return [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) * part)].toFixed(1);
}

function tell(name, times) {
	console.log(`${name}: median ${percentile(times, 0.5)} ms, p95 ${percentile(times, 0.95)} ms, max ${percentile(times, 1)} ms`);
}

/** In the page: how long each frame's callbacks take, in all. */
function noteFrames() {
	const ask = window.requestAnimationFrame.bind(window);
	let at = -1;

	window.frames_ms = [];
	window.requestAnimationFrame = callback => ask(time => {
		const begin = performance.now();
		callback(time);
		if (time !== at)
			window.frames_ms.push(0);
		at = time;
		window.frames_ms[window.frames_ms.length - 1] += performance.now() - begin;
	});
}

/** As one does who edits the address; resolves to how long it took until all is drawn, and the longest frame. */
function step(page, fragment) {
	return page.evaluate(async hash => {
		const canvas = document.querySelector(".graph-canvas canvas"), frame = () => new Promise(resolve => requestAnimationFrame(resolve)), begin = performance.now();

		window.frames_ms.length = 0;
		history.replaceState(history.state, "", "#" + hash);
		dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
		do
			await frame();
		while (canvas.dataset.waiting !== "0");
		const took_ms = performance.now() - begin;
		await frame();
		return [took_ms, Math.max(...window.frames_ms)];
	}, fragment);
}

const server = spawn(join(BUILD, "pinch"), ["view", process.argv[2]], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, DISPLAY: "", BROWSER: "" } });
let said = "";

process.on("exit", () => server.kill("SIGINT"));
server.stdout.on("data", bytes => { said += bytes; });
server.stderr.on("data", bytes => { said += bytes; });
while (!/token=[0-9a-f]+/.test(said))
	await new Promise(resolve => setTimeout(resolve, 20));
await start();
const page = await open(said.match(/http:\S*token=[0-9a-f]+/)[0], SIZE);
await page.waitForFunction(() => document.querySelector(".graph-canvas canvas")?.dataset.waiting === "0");
await page.waitForFunction(async () => (await (await fetch("now")).json()).phase !== "indexing");
await page.reload();
await page.waitForFunction(() => document.querySelector(".graph-canvas canvas")?.dataset.waiting === "0");
console.log(`first picture: ${(await page.evaluate(() => performance.now())).toFixed(0)} ms`);
await page.evaluate(noteFrames);
const names = await page.evaluate(async () => (await (await fetch("trace")).json()).lanes.filter(lane => lane.kind === "name").map(lane => lane.id));
const whole_ns = Number((await page.locator(".graph-canvas canvas").getAttribute("data-view")).split("~")[1]);
const ranges = Array.from({ length: STEPS }, () => {
	const length = Math.max(1e6, whole_ns / 2 ** (20 * random())), begin = random() * (whole_ns - length);
	return `open=${names.join(".")}&view=${Math.round(begin)}~${Math.round(begin + length)}`;
});

for (const [name, hide] of [["all", "chosen.none"], ["states alone", "wakes.marks.activities.messages.running.run-queue.disk.network"]]) {
	const fresh = [], cached = [], frames = [];
	for (const range of ranges)
		fresh.push((await step(page, `${range}&hide=${hide}`))[0]);
	for (const range of ranges) {
		await step(page, `${range}&hide=${hide}`);
		const [took_ms, frame_ms] = await step(page, `${range}&hide=${hide}`.replace(/view=(\d+)/, (_, from) => `view=${Number(from) + 1}`));
		cached.push(took_ms);
		frames.push(frame_ms);
	}
	if (name === "all")
		tell("a step from tiles that are not there, until all is drawn", fresh);
	tell(`a step from tiles that are there, ${name}: the frame`, frames);
}
console.log(`lanes in the picture: ${await page.locator(".lane").count()}`);
await stop();
process.exit();
