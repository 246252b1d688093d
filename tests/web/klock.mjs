// SPDX-License-Identifier: GPL-2.0-or-later
// The page of kernel locks, in a browser, with data that is made up.
import { assert, bareFigures, close, copied, faults, main, makePage, note, open, readyMs, section, shot, test } from "./browser.mjs";
import { HOSTILE, klock } from "./data.mjs";

const few = makePage("klock", { klock: klock(300) });

test("shares by kind, histogram and boxes are drawn, on a logarithmic axis, with units", async () => {
	const page = await open(few);
	const all = await section(page, "klock");

	await all.locator(".doughnut path").first().waitFor();
	assert(await all.locator(".doughnut path").count() === 6, "not a part of the doughnut for each kind");
	assert(await all.locator(".boxes .box").count() === 6, "not a box for each kind");
	assert(await all.locator(".histogram rect").count() > 5, "the histogram has too few bars");
	const ticks = await all.locator(".histogram .axis text").allTextContents();
	assert(ticks.length > 3 && ticks.every(tick => /^1(0|00)?\s(ns|us|ms|s)$/.test(tick)), `ticks: ${ticks}`);
	await all.locator(".doughnut path").first().hover();
	await page.locator(".tip:not([hidden])").waitFor();
	assert(/%/.test(await page.locator(".tip").innerText()), "no share in the tooltip");
	await shot(page, "klock-light");
	await close(page);
});

test("figures have a tooltip with a unit, and what each chart draws is copied as CSV", async () => {
	const page = await open(few);

	await section(page, "klock");
	const bare = await bareFigures(page);
	assert(!bare.length, bare.slice(0, 5).join("\n"));
	for (const [of, titles, row] of [
		["waits by kind", '"kind","waits","total (ns)"', /^"[^"]+",1000,\d+$/],
		["the lengths of waits by kind", '"kind","waits","min (ns)","p25 (ns)","p50 (ns)","p75 (ns)","max (ns)"', /^"[^"]+",1000,\d+,2000,9000,60000,5000000$/],
		["the histogram of all locks", '"from (ns)","waits"', /^256,\d+$/],
		["the time waited by lock", '"address","name","kind","waited (ns)"', /^"0xffff/],
		["kernel locks", '"address","kind","name","thread","pid","tid","waited (ns)","waits (times)"', /^"0xffff/],
	]) {
		const [first, second] = await copied(page, of);
		assert(first.startsWith(titles) && row.test(second), `${of}: ${first}\n${second}`);
	}
	await close(page);
});

test("each waiting thread has a row, and each lock a bar of the time that threads waited for it", async () => {
	const data = klock(300), page = await open(makePage("klock-threads", { klock: data }));
	const all = await section(page, "klock"), table = all.locator(".table").nth(1);

	const heads = (await table.locator("th button").allTextContents()).map(text => text.replace(/[^a-z]/g, "")).join();
	assert(heads === "address,kind,thread,pid,tid,total,count,longest,stack", `the columns are ${heads}`);
	assert((await table.locator("[role=status]").first().innerText()).startsWith(String(data.locks.reduce((sum, lock) => sum + lock.waiters.length, 0))), "not a row for each");
	const first = data.locks.flatMap(lock => lock.waiters).sort((a, b) => b.wait_ns - a.wait_ns)[0];
	const row = await table.locator("tbody tr:not(.spacer)").first().locator("td").allInnerTexts();
	assert(row[2] === first.name && row[3] === "4000" && row[4] === String(first.tid), `the first row is ${row}`);
	await table.locator(".open").first().click();
	assert((await table.locator(".detail .stack").innerText()).includes("do_syscall_64"), "no stack in the details");
	const [longest] = [...data.locks].sort((a, b) => b.wait_ns - a.wait_ns);
	assert(await all.locator("svg[aria-label='Time waited for each kernel lock'] g").first().getAttribute("data-tip").then(tip => tip.includes(longest.address)), "another lock comes first");
	await close(page);
});

test("choosing a lock shows its histogram and who waited", async () => {
	const page = await open(few);
	const all = await section(page, "klock");
	const first = all.locator("tbody .open").first();

	const address = await first.innerText();
	await first.click();
	await all.locator(".detail").waitFor();
	assert((await all.locator(".detail").innerText()).includes(address), "another lock's details");
	assert(!/all locks/.test(await all.locator(".chart h3", { hasText: "Waits by length" }).innerText()), "still all locks");
	await close(page);
});

test("acquisitions have columns, and locks that nobody waited for have no charts", async () => {
	const data = klock(3);

	data.acquisitions = 4200;
	data.take_cost_ns = 842;
	data.hold_cost_ns = 761;
	data.kinds = [];
	for (const lock of data.locks)
		Object.assign(lock, { waits: 0, wait_ns: 0, mean_ns: 0, p50_ns: 0, p90_ns: 0, p99_ns: 0, max_ns: 0, unfinished: 0, waiters: [],
			owners: [], histogram: [], where: "anon_vma_clone", acquisitions: 1400, take_ns: 3000000, holds: 1400, hold_ns: 7000000,
			max_hold_ns: 61000000 });
	const page = await open(makePage("klock-held", { klock: data }));
	const all = await section(page, "klock");

	const row = await all.locator("tbody tr:not(.spacer)").first().innerText();
	for (const cell of ["1,400", "3.00 ms", "7.00 ms", "5.00 us", "61.0 ms", "anon_vma_clone"])
		assert(row.replaceAll("\u00a0", " ").includes(cell), `${cell} is not in ${row}`);
	assert(/4,200 times.*842 ns.*761 ns/.test((await all.innerText()).replaceAll("\u00a0", " ")), "what it cost is not said");
	assert(await all.locator("svg").count() === 0, "charts of nothing");
	await all.locator("tbody .open").first().click();
	assert((await all.locator(".detail").innerText()).includes("61.0"), "no hold in the details");
	await shot(page, "klock-held");
	await close(page);
});

test("100,000 locks are searched and sorted", async () => {
	const page = await open(makePage("klock-large", { klock: klock(100000) }));
	const all = await section(page, "klock");

	note(`100,000 locks: ready after ${(await readyMs(page)).toFixed(0)} ms`);
	await all.locator("tbody tr").first().waitFor();
	note(`100,000 locks: the table is there after ${(await page.evaluate(() => performance.now())).toFixed(0)} ms`);
	const locks = all.locator(".table").first();
	assert(await locks.locator("tbody tr").count() < 80, "all rows are in the page");
	await locks.locator("th button", { hasText: "address" }).click();
	await locks.locator("th[aria-sort='ascending']").waitFor();
	assert(await locks.locator("tbody .open").first().innerText() === "0xffff888000000000", "not sorted by address");
	await locks.locator(".rows").evaluate(box => { box.scrollTop = box.scrollHeight; });
	await page.waitForFunction(() => [...document.querySelector("#klock .table").querySelectorAll("tbody .open")].pop()?.textContent === "0xffff888000" + (99999 * 64).toString(16));
	await locks.locator("input[type=search]").fill("/srv/data/77777 ");
	await page.waitForFunction(() => document.querySelector("#klock .table").querySelectorAll("tbody tr:not(.spacer)").length === 1);
	await close(page);
});

test("hostile names of locks, threads and functions stay text", async () => {
	const data = klock(3);

	for (const lock of data.locks) {
		lock.name = HOSTILE;
		lock.waiters[0].name = HOSTILE;
	}
	data.stacks = data.stacks.map(() => [HOSTILE]);
	const page = await open(makePage("klock-hostile", { klock: data }));
	const all = await section(page, "klock");
	await all.locator("tbody .open").first().click();
	await all.locator(".detail").waitFor();
	assert(!await page.evaluate(() => window.hacked) && await page.locator("main img").count() === 0, "a name became an element");
	await close(page);
});

test("no lock at all is said", async () => {
	const page = await open(makePage("klock-empty", { klock: { duration_ns: 1, locks: [], kinds: [], stacks: [] } }));

	assert(/No thread waited/.test(await page.locator("#klock").innerText()), "it is not said");
	await close(page);
});

test("it can be read at 360 pixels, and axe-core finds no serious fault", async () => {
	const page = await open(few, { width: 360, height: 740, scheme: "dark" });

	await section(page, "klock");
	assert(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, "wider than the screen");
	await shot(page, "klock-360-dark");
	const found = await faults(page);
	assert(!found.length, found.join("\n"));
	await close(page);
});

await main();
