// SPDX-License-Identifier: GPL-2.0-or-later
// The page of a comparison, in a browser.
import { assert, bareFigures, close, copied, faults, golden, main, makePage, open, section, shot, test } from "./browser.mjs";
import { comparison } from "./data.mjs";

const file = makePage("comparison", { comparison: comparison(60) });

test("what is on one side only is dashed or dotted, and what differs for sure is bold", async () => {
	const page = await open(file);
	const graph = await section(page, "graph");

	await graph.locator(".node").first().waitFor();
	for (const style of ["is-dashed", "is-dotted", "bold-3"])
		assert(await graph.locator(`.node.${style}`).count() > 0, `no node ${style}`);
	await shot(page, "comparison-light");
	await close(page);
});

test("the differential flame graph has more, less and the same", async () => {
	const page = await open(file);
	const flames = await section(page, "flames");

	await flames.locator(".frame").first().waitFor();
	for (const colour of ["f-more", "f-less"])
		assert(await flames.locator(`.frame rect.${colour}`).count() > 0, `no frame ${colour}`);
	await flames.locator(".frame").nth(1).hover();
	await page.locator(".tip:not([hidden])").waitFor();
	assert(/before\.trace: .*\nafter\.trace: .*\nchange /.test(await page.locator(".tip").innerText()), "the tooltip lacks a side");
	await close(page);
});

test("of two runs, call paths are compared by CMetric, lost time and waits for locks", async () => {
	const first = golden("pipeline.json"), second = golden("pipeline.json");
	second.paths[0].cmetric_ns *= 3;
	second.waits[0].wait_ns /= 2;
	const page = await open(makePage("two-runs", { comparison: comparison(20), first, second }));
	const flames = await section(page, "flames");

	for (const [title, colour] of [["CMetric", "f-more"], ["Lost parallelism", "f-less"], ["Lock waits", "f-less"]]) {
		await flames.locator("button", { hasText: title }).click();
		await flames.locator(`svg[aria-label*='${title}']`).waitFor();
		assert(await flames.locator(`.frame rect.${colour}`).count() > 0, `${title}: no frame ${colour}`);
	}
	await shot(page, "comparison-flames");
	await close(page);
});

test("figures have units, and those that are 0 on both sides are left out", async () => {
	const page = await open(file);
	const cells = (await section(page, "figures")).locator("tbody td");

	await cells.first().waitFor();
	assert((await cells.allInnerTexts()).slice(0, 3).join() === "duration,1.00\u00a0s,1.60\u00a0s", "a time without its unit");
	assert(await page.locator("#figures tbody tr").count() === 2, "more than two figures");
	await close(page);
});

test("all that differs is copied as CSV, with units, and figures have a tooltip with one", async () => {
	const page = await open(file);

	for (const id of ["figures", "flames", "graph"])
		await section(page, id);
	const bare = await bareFigures(page);
	assert(!bare.length, bare.slice(0, 5).join("\n"));
	for (const [of, titles, row] of [
		["reasons", '"reason","before.trace (ns)","after.trace (ns)","change (ns)","p"', /^"threads wait longer for work_mutex",100000000,600000000,500000000,0.0004$/],
		["figures", '"figure","before.trace","after.trace","change","p","unit"', /^"duration",1000000000,1600000000,0.6,0.0004,"ns"$/],
		["Dependencies", '"stack","before.trace (ns)","after.trace (ns)","change (ns)"', /^"all threads",1000000000,1600000000,600000000$/],
		["nodes", '"what","before.trace (ns)","after.trace (ns)","change (ns)","p"', /^"/],
	]) {
		const [first, second] = await copied(page, of);
		assert(first.startsWith(titles) && row.test(second), `${of}: ${first}\n${second}`);
	}
	await close(page);
});

test("reasons come first, with axe-core's consent", async () => {
	const page = await open(file);

	assert((await page.locator("#verdict").innerText()).includes("work_mutex"), "no reasons");
	for (const id of ["figures", "flames", "graph"])
		await section(page, id);
	const found = await faults(page);
	assert(!found.length, found.join("\n"));
	await close(page);
});

await main();
