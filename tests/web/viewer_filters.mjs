// SPDX-License-Identifier: GPL-2.0-or-later
// Filters of the page that choose parts of states: of what waits are for, of CPUs and of spans, with a server of a trace that is recorded for it; of
// subsystems and events, with a trace that was made up. Screenshots stay in $O/web-shots.
import { join } from "node:path";
import { assert, BUILD, close, main, open, shot, test } from "./browser.mjs";
import { address, box, downloaded, drawn, end, go, lane, settled, view } from "./view_page.mjs";
import { record, serve, stop } from "./view_process.mjs";

const recordings = { convoy: ["lock_convoy"], spans: ["span_server", "--span", "calls=recvfrom(fd=socket)..sendto"] }, recorded = new Set();

function recordOnce(name) {
	const [program, ...options] = recordings[name];

	if (!recorded.has(name))
		record(`${name}.pinch`, options, [join(BUILD, "programs", program)]);
	recorded.add(name);
}

/** A page of a recorded trace; the server ends with it. */
async function viewOf(name, fragment = "") {
	recordOnce(name);
	const { child, link } = await serve([`${name}.pinch`]), page = await open(link + fragment);

	page.child = child;
	await settled(page);
	page.told = await page.evaluate(() => fetch("trace").then(answer => answer.json()));
	return page;
}

async function endOf(page) {
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));
	await close(page);
	await stop(page.child);
}

const colour = (page, state) => page.evaluate(name => getComputedStyle(document.documentElement).getPropertyValue(`--c-${name}`).trim(), state);

/** How many pixels of each colour are drawn of all lanes of these kinds. */
async function coloursOf(page, kinds = ["thread"]) {
	const counts = new Map();

	for (const one of page.told.lanes.filter(({ kind }) => kinds.includes(kind))) {
		if (!await lane(page, one.id).count())
			continue;
		const { width } = await box(page);
		for (const column of await drawn(page, one.id, Array.from({ length: Math.floor(width) }, (_, x) => x)))
			for (const pixel of column)
				counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
	}
	return counts;
}

async function fill(page, label, text) {
	await page.getByLabel(label, { exact: true }).fill(text);
	await address(page, search => [...search.values()].includes(text) || !text);
	await settled(page);
}

const filters = page => page.getByRole("group", { name: "Filters that are on" });
const HIDE = "hide=wakes.marks.activities.messages";

test("waits for what is called so keep their colour, all else is pale; sums, files and the link follow, and a click takes the filter off", async () => {
	const page = await viewOf("convoy", "#" + HIDE), [running, lock] = [await colour(page, "running"), await colour(page, "lock")];
	const before = await coloursOf(page);

	assert(before.get(running) > 0 && before.get(lock) > 0, "nothing is drawn");
	await fill(page, "Only waits for this", "journal_lock");
	const chosen = await coloursOf(page);
	assert(!chosen.get(running) && chosen.get(lock) > 0 && chosen.get(lock) <= before.get(lock), `${chosen.get(running)} running, ${chosen.get(lock)} lock of ${before.get(lock)}`);
	await shot(page, "filter-object", false);
	await filters(page).getByText("waited for: journal_lock").waitFor();
	await filters(page).getByText("The overview and the curves are of everything").waitFor();
	await page.locator("#report").getByText("What is saved has all waits of the selected time and threads").waitFor();
	const { lanes, whole_ns } = page.told, all = lanes.flatMap((one, i) => one.kind === "thread" ? [i] : []).join(",");
	const ask = path => page.evaluate(path => fetch(path).then(answer => answer.json()), path);
	const lengths = await ask("waits/lengths?object=journal_lock"), sums = await ask(`stretch?from=${page.told.begin_ns}&to=${whole_ns}&lanes=${all}&object=journal_lock`);
	const sum = sums.lanes.reduce((total, { ns }) => total + ns.reduce((a, b) => a + b, 0), 0);
	assert(lengths.is_counted && lengths.ns === sum && sum > 0, `${lengths.ns} and ${sum} ns`);
	await page.locator("#sums .slices").getByText("not chosen").waitFor();
	const saved = JSON.parse((await downloaded(page, "JSON")).bytes);
	assert(saved.filters.object === "journal_lock" && saved.lanes.every(({ ns }) => !ns[1]), JSON.stringify(saved).slice(0, 300));
	const link = new URL(page.url()).hash;
	const again = await viewOf("convoy", link), same = await coloursOf(again);
	assert(same.get(lock) === chosen.get(lock), `${same.get(lock)} and ${chosen.get(lock)} pixels`);
	await endOf(again);
	await filters(page).getByRole("button", { name: "Take off the filter of waited for: journal_lock" }).click();
	await settled(page);
	assert((await coloursOf(page)).get(running) === before.get(running), "the graph is not as before");
	await endOf(page);
});

test("a CPU that is chosen leaves what ran there; the pictures of all CPUs have what each has", async () => {
	const page = await viewOf("convoy", "#" + HIDE), running = await colour(page, "running"), cpus = page.told.lanes.filter(({ kind }) => kind === "cpu");

	for (const { cpu, id } of cpus) {
		await fill(page, "Only this CPU", String(cpu));
		assert((await coloursOf(page)).get(running) > 0 || cpus.length > 2, `nothing ran on CPU ${cpu}`);
		for (const other of cpus.filter(one => one.id !== id))
			if (await lane(page, other.id).count()) {
				const [column] = await drawn(page, other.id, [100]);
				assert(!column.includes(running), `CPU ${other.cpu} is not pale`);
			}
	}
	await shot(page, "filter-cpu", false);
	await fill(page, "Only this CPU", "999");
	assert(!(await coloursOf(page)).get(running), "what ran elsewhere is chosen");
	await filters(page).getByRole("button", { name: /^Take off the filter of CPU/ }).click();
	await endOf(page);
});

test("one execution is chosen in the list of spans: its time is selected, and all else is pale", async () => {
	const page = await viewOf("spans", `#list=spans&${HIDE}`), running = await colour(page, "running");

	await fill(page, "Only this span", "calls");
	const all = (await coloursOf(page)).get(running) ?? 0;
	await fill(page, "Only this span", "no such span");
	assert(!(await coloursOf(page)).get(running), "what is in no span is chosen");
	await fill(page, "Only this span", "");
	const row = page.locator("#events tbody tr").nth(1);
	await row.scrollIntoViewIfNeeded();
	await row.click();
	await page.getByRole("button", { name: "Only this span", exact: true }).click();
	const search = await address(page, search => /^\d+@\d+$/.test(search.get("span") ?? "") && search.get("sel"));
	assert(search.get("sel").split("~")[0] === search.get("span").split("@")[1], String(search));
	await settled(page);
	const one = (await coloursOf(page)).get(running) ?? 0;
	assert(one <= all, `${one} pixels of one, ${all} of all`);
	await shot(page, "filter-span", false);
	await endOf(page);
});

test("filters of subsystems and events take circles and arrows of messages away, unless both events of these are chosen", async () => {
	const page = await view({}, {}, "#view=200000000~230000000&sort=name&hide=wakes.activities&list=events"), area = await box(page), x = time => (time - 2e8) / 3e7 * area.width;
	const mail = page.trace.activities.find(one => one.is_message && one.thread === 1 && one.begin_ns > 2e8), middle = (x(mail.begin_ns) + x(mail.end_ns)) / 2;
	const rows = await Promise.all([1, 2].map(thread => lane(page, page.trace.laneOf.get(thread)).boundingBox())), y = (rows[0].y + rows[1].y + 17) / 2 - area.y;
	const isTold = async (x, y, wanted) => {
		const area = await box(page);		// filters that are on stand above it
		await page.mouse.move(area.x + x - 30, area.y + y + 60);
		await page.mouse.move(area.x + x, area.y + y);
		await page.waitForFunction(() => /process/.test(document.querySelector(".tip:not([hidden])")?.textContent ?? ""));
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
		return wanted.test(await page.locator(".tip").innerText());
	};
	const waitUntilTold = async (x, y, wanted) => {
		for (const limit = Date.now() + 20000; !await isTold(x, y, wanted);)
			assert(Date.now() < limit, `there is no ${wanted}`);
	};
	const circle = [x(210000000), rows[0].y - area.y + 8];

	await waitUntilTold(middle, y, /\u2192/);
	await waitUntilTold(...circle, /\u25cf/);
	for (const [filter, hasArrow, hasCircle] of [["subsystem=mail", true, false], ["subsystem=request", false, true], ["event=mail.SEND", false, false], ["event=SEND%2C%20RECEIVE", true, false],
		["event=request.END", false, false], ["event=BEGIN%2C%20END", false, true]]) {
		await go(page, `view=200000000~230000000&sort=name&hide=wakes.activities&list=events&${filter}`);
		await settled(page);
		const found = [await isTold(middle, y, /\u2192/), await isTold(...circle, /\u25cf/)];
		if (filter !== "event=request.END")
			assert(found[0] === hasArrow && found[1] === hasCircle, `${filter}: ${found}`);
		await filters(page).getByText(/subsystem: |event: /).waitFor();
	}
	await end(page);
});

await main();
