// SPDX-License-Identifier: GPL-2.0-or-later
// How soon the page of a report can be used in a browser: from when it is opened until its first tables and charts are
// there, and until nothing keeps it from answering any more. Fails where that is longer than it may be. Of reports of
// many samples also how long it takes to write the page. Environment: O, ROUNDS.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { assert, BUILD, close, directory, makePage, open, start, stop } from "../tests/web/browser.mjs";
import { comparison, klock, largeReport, wholeReport } from "../tests/web/data.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 5), EVENTS = 5000000, SAMPLE_US = 200, SAMPLES_MIN = 1000000;
const LOOK_MS = 10, TICKS_PER_S = 100;

const pages = [
	{ name: "a report", parts: wholeReport, shown: "#findings li", ms_max: 1000 },
	{ name: "10,000 threads, 20,000 locks, 1,000 paths", parts: largeReport, shown: "#findings li", ms_max: 3000 },
	{ name: "a comparison", parts: () => ({ comparison: comparison(500) }), shown: "#figures tbody tr", ms_max: 1000 },
	{ name: "100,000 kernel locks", parts: () => ({ klock: klock(100000) }), shown: "#klock tbody tr", ms_max: 3000 },
	{ name: "of a run as a server's", stacks: 400, shown: "#findings li", ms_max: 3000 },
	{ name: "of a run with very many call paths", stacks: 100000, shown: "#findings li", ms_max: 3000 },
];

/** What a process took, by what could be seen of it last. */
async function timed(program, args) {
	const begin_ms = performance.now(), child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });
	let cpu_s = 0, rss_kb = 0;
	const look = () => {
		try {
			const [user, system] = readFileSync(`/proc/${child.pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ").slice(11).map(Number);
			cpu_s = (user + system) / TICKS_PER_S;
			rss_kb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? rss_kb);
		} catch {
			// It has ended.
		}
	};
	const timer = setInterval(look, LOOK_MS);
	const [status] = await once(child, "exit");

	clearInterval(timer);
	assert(status === 0, `${program} ${args.join(" ")}: exit status ${status}`);
	return { wall_s: (performance.now() - begin_ms) / 1000, cpu_s, rss_kb };
}

const thousands = number => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

function totalsOf(file) {
	const [, base64] = /data-part="report"[^>]*>([^<]*)/.exec(readFileSync(file, "utf8"));

	return JSON.parse(gunzipSync(Buffer.from(base64, "base64")).toString()).totals;
}

/** The page of a trace that is generated, with its history of states, which the first page makes. */
async function writePage(name, stacks) {
	const trace = join(directory, `${name}.pinch`), file = join(directory, `${name}.html`);
	const write = () => timed(join(BUILD, "pinch"), ["report", "--quiet", "--html", file, trace]);
	const made = spawnSync(join(BUILD, "bench/trace_gen"), [trace, EVENTS, 64, 8, 1, SAMPLE_US, stacks].map(String), { stdio: "inherit" });

	assert(made.status === 0, "no trace is generated");
	const first = await write(), again = await write(), totals = totalsOf(file);
	assert(totals.samples >= SAMPLES_MIN, `only ${totals.samples} samples`);
	console.log(`        ${thousands(EVENTS)} events, ${thousands(totals.samples)} samples, ${thousands(totals.paths)} call paths: written in ` +
		`${first.wall_s.toFixed(1)} s, again in ${again.wall_s.toFixed(1)} s, of CPU time ${again.cpu_s.toFixed(1)} s; at most ${
			(again.rss_kb / 1024).toFixed(0)} MB`);
	return file;
}

/** In the page: resolves when no task has lasted for more than 50 ms for a second, with the end of the last one that has. */
function untilIdle() {
	return new Promise(resolve => {
		const now = performance.now();
		let busy = performance.getEntriesByName("shown")[0].startTime;
		const look = () => performance.now() - Math.max(now, busy) > 1000 ? resolve(busy) : setTimeout(look, 100);

		new PerformanceObserver(list => {
			for (const task of list.getEntries())
				busy = Math.max(busy, task.startTime + task.duration);
		}).observe({ type: "longtask", buffered: true });
		look();
	});
}

const median = numbers => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

async function measure(file, shown) {
	const shown_ms = [], idle_ms = [];

	for (let round = 0; round < ROUNDS; round++) {
		const page = await open(file, { shown });

		shown_ms.push(await page.evaluate(() => performance.getEntriesByName("shown")[0].startTime));
		idle_ms.push(await page.evaluate(untilIdle));
		await close(page);
	}
	return { shown_ms: median(shown_ms), idle_ms: median(idle_ms) };
}

const column = (number, width) => number.toFixed(0).padStart(width);

await start();
console.log(`medians of ${ROUNDS}, at a load of ${loadavg()[0].toFixed(1)}`);
console.log("         shown    idle    goal      size");
for (const [i, { name, parts, stacks, shown, ms_max }] of pages.entries()) {
	const file = stacks ? await writePage(`page-${i}`, stacks) : makePage(`page-${i}`, parts());
	const { shown_ms, idle_ms } = await measure(file, shown);

	console.log(`${idle_ms <= ms_max ? "ok    " : "NOT OK"} ${column(shown_ms, 4)} ms ${column(idle_ms, 4)} ms ${column(ms_max, 4)} ms ${
		column(statSync(file).size / 1024, 6)} KB  ${name}`);
	if (idle_ms > ms_max)
		process.exitCode = 1;
}
await stop();
