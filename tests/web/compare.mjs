// SPDX-License-Identifier: GPL-2.0-or-later
// The page of a comparison, in a browser.
import { assert, bareFigures, close, copied, faults, golden, main, makePage, open, section, shot, test } from "./browser.mjs";
import { comparison, configurations } from "./data.mjs";

const file = makePage("comparison", { comparison: comparison(60) });

test("what is on one side only is dashed or dotted, and what differs for sure is bold", async () => {
	const page = await open(file);
	const graph = await section(page, "graph");

	await graph.locator(".node").first().waitFor();
	for (const style of ["is-dashed", "is-dotted", "bold-5"])
		assert(await graph.locator(`.node.${style}`).count() > 0, `no node ${style}`);
	const widths = await graph.locator(".edge.is-solid").evaluateAll(edges => edges.map(edge => edge.getAttribute("stroke-width")));
	assert([...new Set(widths)].sort().join() === "1,2,3.5,5,7", `edges are ${widths.join()} wide`);
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

/** Stacks of main() that calls heavy() and light(), so many samples in each. */
function sampledRun(heavy, light) {
	const report = golden("pipeline.json"), frame = name => ({ function: name, file: "main.c", line: 3, module: "prog", offset: 0, is_inlined: false,
		is_kernel: false, is_guessed: false, is_tail_call: false });
	const stacks = [["heavy", heavy], ["light", light], ["rare", 3]].map(([name, samples]) => ({ samples, cpu_ns: samples * 3e6, cmetric_ns: samples * 1e6,
		critical_ns: 0, stack: [frame(name), frame("main")] }));
	const sum = key => stacks.reduce((all, stack) => all + stack[key], 0);

	report.code = { ...report.code, samples: sum("samples"), is_critical: true, cpu_ns: sum("cpu_ns"), cmetric_ns: sum("cmetric_ns"), critical_ns: 0, stacks };
	return report;
}

test("flames of code that was sampled are coloured by the change of its share, and grey where samples cannot tell one", async () => {
	const page = await open(makePage("sampled-runs", { comparison: comparison(20), first: sampledRun(400, 1000), second: sampledRun(1600, 1000) }));
	const flames = await section(page, "flames");

	for (const title of ["CMetric", "CPU time"]) {
		await flames.locator("button", { hasText: title }).click();
		await flames.locator(`svg[aria-label*='${title}']`).waitFor();
		for (const [name, colour] of [["heavy", "f-more"], ["light", "f-less"], ["rare", "f-same"]]) {
			const frame = flames.locator(`.frame[data-tip^='${name}']`);

			assert(await frame.locator(`rect.${colour}`).count() === 1, `${title}: ${name} is not ${colour}`);
			assert(/share \d+\.\d.% . \d+\.\d.% \(. \d+\.\d\)/.test(await frame.getAttribute("data-tip")), `${title}: no share of ${name}`);
		}
		assert((await flames.locator(".frame[data-tip^='rare']").getAttribute("data-tip")).includes("may be chance"), "rare is sure");
	}
	await shot(page, "comparison-sampled");
	await close(page);
});

test("functions that ran more are a table with their errors, by CPU time, by CMetric and as call paths", async () => {
	const page = await open(file);
	const functions = await section(page, "functions");
	const cells = functions.locator("tbody td");

	await cells.first().waitFor();
	assert((await cells.allInnerTexts()).slice(0, 5).join() === "compress_block,+600\u00a0ms \u00b1 5.60\u00a0ms,300\u00a0ms,900\u00a0ms,+600\u00a0ms \u00b1 5.60\u00a0ms",
		(await cells.allInnerTexts()).join());
	assert((await cells.nth(6).innerText()) === "\u2013", "what is not told has a figure");
	assert((await functions.innerText()).includes("3\u00a0more differences may be chance"), "no word of what is unsure");
	await functions.locator("button", { hasText: "Call paths" }).click();
	await functions.locator("td", { hasText: "compress_block < pack" }).waitFor();
	await close(page);
});

test("groups of threads of several runs are bars and a table, for whole groups and by thread", async () => {
	const page = await open(makePage("configurations", { configurations: { of: "configurations", ...configurations(3) } }));
	const groups = await section(page, "groups");

	await groups.locator("svg rect.k-2").first().waitFor();
	assert(await groups.locator("svg rect[class^=k-]").count() >= 9, "not a bar for each group in each run");
	assert(await groups.locator("tbody tr").count() === 3, "not a row for each group");
	const width = () => groups.locator("svg rect.k-1").nth(1).getAttribute("width");
	const whole = Number(await width());
	await groups.locator("button", { hasText: "Mean of a thread" }).click();
	await groups.locator("svg text", { hasText: "250\u00a0ms, 2\u00a0threads" }).waitFor();
	assert(whole > 0 && Number(await width()) > 0, "no bar");
	const found = await faults(page);
	assert(!found.length, found.join("\n"));
	await shot(page, "configurations");
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

	for (const id of ["figures", "functions", "groups", "flames", "graph"])
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
	for (const id of ["figures", "functions", "groups", "flames", "graph"])
		await section(page, id);
	const found = await faults(page);
	assert(!found.length, found.join("\n"));
	await close(page);
});

await main();
