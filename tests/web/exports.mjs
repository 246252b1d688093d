// SPDX-License-Identifier: GPL-2.0-or-later
// Files of pinch export in the programs that they are for: speedscope's page, served from its package. Screenshots stay in $O/web-shots.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { assert, BUILD, close, directory, main, note, open, shot, test } from "./browser.mjs";

const PINCH = join(BUILD, "pinch"), TRACE = join(directory, "exported.pinch");
const SPEEDSCOPE = join(dirname(createRequire(join(BUILD, "web/package.json")).resolve("speedscope/package.json")), "dist/release");
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const UNITS_NS = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9 };

function pinch(...words) {
	return execFileSync(PINCH, words, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
}

/** Records a program. False: that cannot be done here. */
function record() {
	try {
		execFileSync(PINCH, ["record", "-q", "-o", TRACE, "--", join(BUILD, "programs/multi_mutex")], { stdio: "pipe" });
		return true;
	} catch (error) {
		note(`skipped: recording needs root and a built pinch: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

/** Serves speedscope, and beside it the files of this directory. */
async function serve() {
	const server = createServer((request, response) => {
		const name = basename(new URL(request.url, "http://x").pathname) || "index.html", [file] = [directory, SPEEDSCOPE].map(folder => join(folder, name)).filter(existsSync);

		if (!file)
			return response.writeHead(404).end();
		return response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
	});

	server.unref();
	await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
	return server;
}

/** By kind: the ns in all, by frame those of the stacks that it is in, and those of the stacks that end in it. */
function foldedSums() {
	const kinds = {};

	for (const line of pinch("export", "--format", "folded", "-o", "-", TRACE).trim().split("\n")) {
		const [, stack, ns] = /^(.*) (\d+)$/.exec(line), [kind, ...frames] = stack.split(";");
		const sums = kinds[kind] ??= { ns: 0, total: new Map(), self: new Map() }, add = (map, frame) => map.set(frame, (map.get(frame) ?? 0) + Number(ns));

		sums.ns += Number(ns);
		new Set(frames).forEach(frame => add(sums.total, frame));
		add(sums.self, frames[frames.length - 1]);
	}
	return kinds;
}

/** ns of what the page shows: "1.23ms (4.5%)". */
function shownNs(text) {
	const [, number, unit] = /^([\d.]+)(\D+?)\s*\(/.exec(text.trim());

	return Number(number) * UNITS_NS[unit];
}

/** Of the table of functions that the page shows. */
function rowsOf(page) {
	return page.$$eval("table tr", rows => rows.map(row => [...row.cells].map(cell => cell.textContent)).filter(cells => cells.length === 3 && /\(/.test(cells[0])));
}

/** The sum of the weights of a profile that the page gives back, which has the times at which frames begin and end. */
function weightOf(profile) {
	return profile.type === "sampled" ? profile.weights.reduce((sum, weight) => sum + weight, 0) : profile.endValue - profile.startValue;
}

/** The trace in a format, in speedscope's page. */
async function show(server, format) {
	const file = `exported.${format}`;

	pinch("export", "--format", format, "-o", join(directory, file), TRACE);
	return open(`http://127.0.0.1:${server.address().port}/#profileURL=/${file}`, { height: 3000, isReady: false });		// rows that are not in view are not there
}

/** The weights of the profiles that the page saves, which is what it has read. */
async function savedWeights(page) {
	const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Export").click()]);

	page.problems = page.problems.filter(problem => !/GPU stall due to ReadPixels/.test(problem));
	return JSON.parse(readFileSync(await download.path(), "utf8")).profiles.map(weightOf);
}

test("speedscope shows the frames, weights and totals of an exported trace", async () => {
	if (!record())
		return;
	const server = await serve(), page = await show(server, "speedscope");
	const { threads } = JSON.parse(pinch("report", "-q", "--json", "-", "--top", "1000", TRACE)), sum = of => threads.reduce((ns, thread) => ns + of(thread), 0);
	const sums = foldedSums(), totals = { cmetric: sum(one => one.cmetric_ns), lost: sum(one => one.cpu_wait_ns + one.blocked_ns), cpu: sum(one => one.running_ns) };

	await page.getByText("Sandwich").click();
	for (const [i, [kind, title]] of [["cmetric", "CMetric"], ["lost", "lost time"], ["cpu", "CPU"]].entries()) {
		assert(sums[kind].ns === totals[kind], `${kind}: ${sums[kind].ns} ns in stacks, ${totals[kind]} in the report`);
		if (i)
			await page.keyboard.press("n");		// the next profile
		await page.getByText(new RegExp(`${title} \\(${i + 1}/3\\)`)).waitFor();
		const rows = await rowsOf(page);
		assert(rows.length >= 5, `${kind}: ${rows.length} rows`);
		for (const name of new Set(rows.map(([, , name]) => name))) {		// a function has a frame each line
			const own = rows.filter(row => row[2] === name), self = own.reduce((sum, [, text]) => sum + shownNs(text), 0), isNear = (is, wanted) => Math.abs(is - wanted) <= 1 + wanted / 100;
			assert(isNear(self, sums[kind].self.get(name) ?? 0), `${kind}: ${name} itself has ${self}, not ${sums[kind].self.get(name)} ns`);
			assert(own.length > 1 || isNear(shownNs(own[0][0]), sums[kind].total.get(name)), `${kind}: ${name} has ${own[0][0]}, not ${sums[kind].total.get(name)} ns`);
		}
		await shot(page, `speedscope-${kind}`, false);
	}
	const weights = await savedWeights(page);
	assert(weights.join() === Object.values(totals).join(), `the page has ${weights}, the report ${Object.values(totals)}`);
	await close(page);
	server.close();
});

test("speedscope reads folded stacks and the profile of pprof, too, with the same sums", async () => {
	if (!existsSync(TRACE) && !record())
		return;
	const server = await serve(), sums = foldedSums(), all = Object.values(sums).reduce((sum, { ns }) => sum + ns, 0);

	for (const [format, wanted] of [["folded", all], ["pprof", sums.cpu.ns]]) {		// of the sample types, it takes the last one
		const page = await show(server, format);
		await page.getByText("Sandwich").click();
		const weights = await savedWeights(page);
		assert(weights.join() === String(wanted), `${format}: ${weights}, not ${wanted}`);
		await close(page);
	}
	server.close();
});

await main();
