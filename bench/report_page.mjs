// SPDX-License-Identifier: GPL-2.0-or-later
// How soon the page of a report can be used in a browser: from when it is opened until its first tables and charts are
// there. Fails where that is longer than it may be. Environment: O, ROUNDS.
import { statSync } from "node:fs";
import { close, makePage, open, start, stop } from "../tests/web/browser.mjs";
import { comparison, klock, largeReport, wholeReport } from "../tests/web/data.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 5);

const pages = [
	{ name: "a report", parts: wholeReport(), shown: "#findings li", ms_max: 1000 },
	{ name: "10,000 threads, 20,000 locks, 1,000 paths", parts: largeReport(), shown: "#findings li", ms_max: 3000 },
	{ name: "a comparison", parts: { comparison: comparison(500) }, shown: "#figures tbody tr", ms_max: 1000 },
	{ name: "100,000 kernel locks", parts: { klock: klock(100000) }, shown: "#klock tbody tr", ms_max: 3000 },
];

/** Noise only ever makes it longer. */
async function fastest(file, shown) {
	let best = Infinity;

	for (let round = 0; round < ROUNDS; round++) {
		const page = await open(file, { shown });
		const ms = await page.evaluate(() => performance.getEntriesByName("shown")[0].startTime);
		best = Math.min(best, ms);
		await close(page);
	}
	return best;
}

await start();
for (const [i, { name, parts, shown, ms_max }] of pages.entries()) {
	const file = makePage(`page-${i}`, parts);
	const ms = await fastest(file, shown);

	console.log(`${ms <= ms_max ? "ok" : "NOT OK"}  ${ms.toFixed(0).padStart(6)} ms of ${ms_max}  ${(statSync(file).size / 1024).toFixed(0).padStart(7)} KB  ${name}`);
	if (ms > ms_max)
		process.exitCode = 1;
}
await stop();
