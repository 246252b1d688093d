// SPDX-License-Identifier: GPL-2.0-or-later
// What follows the filters of the page besides lanes: the overview, the curves and activities; with servers of traces that are recorded for it.
// Screenshots stay in $O/web-shots.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { assert, BUILD, close, directory, main, open, shot, test } from "./browser.mjs";
import { address, canvas, go, settled } from "./view_page.mjs";

const PINCH = join(BUILD, "pinch"), LIMIT_MS = 1000 * (process.env.LIMIT_S ?? 60), HIDE = "hide=wakes.marks.activities.messages";
const recordings = { convoy: ["lock_convoy"], own: ["own_activities", "20"], sync: ["fsync_io"] }, recorded = new Set(), started = [];

process.on("exit", () => started.forEach(child => child.exitCode === null && child.kill("SIGKILL")));

/** A page of a recorded trace; the server ends with it. */
async function viewOf(name, fragment = "") {
	if (!recorded.has(name))
		execFileSync(PINCH, ["record", "-q", "-o", `${name}.pinch`, "--", join(BUILD, "programs", recordings[name][0]), ...recordings[name].slice(1)], { cwd: directory, stdio: "ignore" });
	recorded.add(name);
	const child = spawn(PINCH, ["view", `${name}.pinch`], { cwd: directory, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });
	const link = await new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error("there is no link")), LIMIT_MS);
		let said = "";
		child.stderr.on("data", bytes => {
			said += bytes;
			const found = said.match(/http:\S*token=[0-9a-f]+/);
			if (found) {
				clearTimeout(timer);
				resolve(found[0]);
			}
		});
	});
	started.push(child);
	child.unref();	// a test that fails ends, too
	child.stdout.unref();
	child.stderr.unref();
	const page = await open(link + fragment);
	page.child = child;
	await settled(page);
	page.told = await page.evaluate(() => fetch("trace").then(answer => answer.json()));
	return page;
}

async function endOf(page) {
	const ended = new Promise(resolve => page.child.on("exit", resolve));

	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));
	await close(page);
	page.child.kill("SIGINT");
	await ended;
}

const ask = (page, path) => page.evaluate(path => fetch(path).then(answer => answer.json()), path);

/** ns by state of all threads, or of those that are called so, over what is seen. */
async function sums(page, more = "", isOf = () => true) {
	const { lanes, shares } = page.told, ids = lanes.flatMap((one, i) => one.kind === "thread" && isOf(one) ? [i] : []);
	const [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number);
	const got = await ask(page, `stretch?from=${Math.round(from)}&to=${Math.round(to)}&lanes=${ids.join(",")}${more}`), ns = shares.map(() => 0);

	got.lanes.forEach(lane => lane.ns.forEach((more, share) => { ns[share] += more; }));
	return Object.fromEntries(shares.map((name, share) => [name, ns[share]]));
}

const told = async (page, attribute, name) => Number(new URLSearchParams(await canvas(page).getAttribute(attribute)).get(name));
const curve = (page, name) => told(page, "data-chosen", name);

/** The curve's time; columns at both ends, no wider than a pixel, are spread over their width. */
async function near(page, name, wanted, what) {
	const [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number), width = await canvas(page).evaluate(({ width }) => width);
	const found = await curve(page, name), edge_ns = 2 * (to - from) / width * await told(page, "data-scales", name);

	assert(Math.abs(found - wanted) <= edge_ns && (found > 0) === (wanted > 0), `${what}, ${name}: ${found} ns, not ${wanted}, by more than ${edge_ns}`);
}

/** How many pixels of a state's colour the overview has. */
function overview(page, state) {
	return page.evaluate(state => {
		const canvas = document.querySelector(".graph-canvas canvas"), { data } = canvas.getContext("2d").getImageData(0, 1, canvas.width, 22);
		const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--c-${state}`).trim();
		let count = 0;
		for (let at = 0; at < data.length; at += 4)
			count += "#" + [0, 1, 2].map(i => data[at + i].toString(16).padStart(2, "0")).join("") === wanted ? 1 : 0;
		return count;
	}, state);
}

async function checkCurves(page, more, isOf, what) {
	const ns = await sums(page, more, isOf);

	await near(page, "running", ns.running, what);
	await near(page, "run-queue", ns.runnable, what);
	return ns;
}

test("curves and the overview have what filters of objects, CPUs, threads and causes choose, as the sums have it; the rest is pale", async () => {
	const page = await viewOf("convoy", `#${HIDE}`), all = await checkCurves(page, "", undefined, "everything");

	assert(all.running > 0 && await overview(page, "running") > 0 && await overview(page, "lock") > 0, "nothing is drawn");
	const before = await overview(page, "lock");
	await go(page, `${HIDE}&cpu=0`);
	const first = await checkCurves(page, "&cpu=0", undefined, "CPU 0");
	assert(first.running < all.running && first.running > 0, `${first.running} of ${all.running} ns`);
	await shot(page, "curves-cpu", false);
	await go(page, `${HIDE}&object=journal_lock`);
	await checkCurves(page, "&object=journal_lock", undefined, "journal_lock");
	assert(await curve(page, "running") === 0 && await overview(page, "running") === 0, "running is chosen by what is waited for");
	const chosen = await overview(page, "lock");
	assert(chosen > 0 && chosen <= before, `${chosen} pixels of ${before}`);
	await shot(page, "curves-object", false);
	const name = page.told.lanes.find(({ kind, ns }) => kind === "thread" && ns[1] > 0), isOf = ({ tid }) => tid === name.tid;
	await go(page, `${HIDE}&thread=${name.tid}`);
	const one = await checkCurves(page, "", isOf, "one thread");
	assert(one.running < all.running && one.running > 0, `${one.running} of ${all.running} ns`);
	await go(page, `${HIDE}&thread=!${name.tid}`);
	const others = await checkCurves(page, "", one => !isOf(one), "all threads but one");
	assert(others.running + one.running === all.running, `${others.running} and ${one.running} of ${all.running} ns`);
	await go(page, `list=waits&${HIDE}&span=there-is-none`);
	await page.locator("#events").getByText("all waits with a part in these executions, as long as they are").waitFor();
	await go(page, `list=events&${HIDE}&thread=!${name.tid}`);
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.waitForFunction(tid => {
		const rows = [...document.querySelectorAll("#events tbody tr")].filter(row => row.querySelector(".is-thread"));
		const isOf = row => row.querySelector(".is-thread").textContent.trim().endsWith(` ${tid}`);
		// A switch or a wake-up is of both threads.
		return rows.length > 0 && rows.filter(isOf).every(row => /sched\.(SWITCH|WAKE)/.test(row.textContent));
	}, name.tid);
	assert((await ask(page, `events?thread=${name.thread}`)).rows > 0, "the thread that is left out has no events");
	await go(page, `${HIDE}&thread=${name.tid}&cpu=0`);
	await checkCurves(page, "&cpu=0", isOf, "one thread on CPU 0");
	await go(page, `${HIDE}&cause=lock`);
	assert(await curve(page, "running") === 0 && await overview(page, "running") === 0 && await overview(page, "lock") > 0, "running is chosen by a cause");
	await endOf(page);
});

test("the curve of disks follows the filter of a file", async () => {
	const page = await viewOf("sync", `#${HIDE}`), all = await sums(page), { events } = await ask(page, "waits?cause=file&count=1000");
	const name = events.find(({ object }) => object)?.object;

	await near(page, "disk", all.file + all["page-fault"], "everything");
	await go(page, `${HIDE}&object=${encodeURIComponent(name)}`);
	const some = await sums(page, `&object=${encodeURIComponent(name)}`);
	await near(page, "disk", some.file + some["page-fault"], name);
	assert(some.file > 0, `nothing of ${name}`);
	await endOf(page);
});

test("the report has a section of the chosen parts of CPUs, with the figures of the sums", async () => {
	const page = await viewOf("convoy", `#${HIDE}&cpu=0`), ns = await sums(page, "&cpu=0"), whole = Object.values(ns).reduce((sum, one) => sum + one, 0);

	await page.locator("#report").scrollIntoViewIfNeeded();
	const section = page.locator("#parts");
	await section.getByText("of the time of all threads").waitFor();
	const figures = await section.locator("dl dd").allInnerTexts(), found = /^([\d.]+)\s(s|ms)/.exec(figures[1] ?? "");
	assert(figures[0] === "0" && found, figures.join("; "));
	assert(Math.abs(Number(found[1]) * (found[2] === "s" ? 1e9 : 1e6) - whole) <= 0.01 * whole, `${figures[1]}, not ${whole} ns`);
	await section.scrollIntoViewIfNeeded();
	await shot(page, "report-cpu", false);
	await endOf(page);
});

test("activities in lanes and in the list are those with a chosen part", async () => {
	const page = await viewOf("own", "#list=activities&hide=wakes.marks"), rows = async () => Number((await page.locator("#events table").getAttribute("aria-rowcount")) ?? -1);
	const rowsTold = async more => (await ask(page, `activities?count=0${more}`)).rows;
	const all = await rowsTold(""), isShown = async wanted => {
		for (const limit = Date.now() + 20000; ;) {
			const found = await rows();
			if (found === wanted || found === wanted + 1)	// the head may count as a row
				return;
			assert(Date.now() < limit, `${found} rows, not ${wanted}`);
			await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
		}
	};

	assert(all > 0, "there are no activities");
	await isShown(all);
	for (const more of ["cpu=0", "cpu=999"]) {
		await go(page, `list=activities&hide=wakes.marks&${more}`);
		await isShown(await rowsTold(`&${more}`));
	}
	assert(await rowsTold("&cpu=999") === 0, "an activity ran on no CPU");
	await address(page, search => search.get("cpu") === "999");
	await endOf(page);
});

await main();
