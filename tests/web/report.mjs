// SPDX-License-Identifier: GPL-2.0-or-later
// The page of a report, in a browser. Screenshots stay in $O/web-shots.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, bareFigures, close, colours, copied, drawAll, faults, main, makePage, note, open, readyMs, section, sections, shot, SHOTS, test, waitForColour } from "./browser.mjs";
import { emptyReport, hostileReport, hostsReport, largeReport, lockClassesReport, partialReport, strippedReport, timelines, wholeReport } from "./data.mjs";

const whole = makePage("report", wholeReport());
const ALL = ["verdict", "causes", "findings", "balance", "parallelism", "threads", "flames", "locks", "waits", "io", "paths", "timelines", "graph", "path", "about"];

test("all sections are there, and all that is drawn is drawn, without a word on the console", async () => {
	const page = await open(whole);
	const found = await sections(page);

	assert(ALL.every(id => found.includes(id)), `of ${ALL} there are ${found}`);
	await drawAll(page);
	assert(await colours(page.locator("#parallelism canvas")) >= 5, "the states over time have too few colours");
	assert(await colours(page.locator("#timelines canvas").first()) >= 5, "the time lines have too few colours");
	assert(await colours(page.locator("#path canvas")) >= 4, "the critical path has too few colours");
	for (const [id, shape, least] of [["flames", ".frame rect", 4], ["graph", ".node", 20], ["graph", ".edge", 19], ["threads", "svg rect", 10],
		["balance", ".whole rect", 4]])
		assert(await page.locator(`#${id} ${shape}`).count() >= least, `#${id} has too few of ${shape}`);
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "report-light");
	note(`ready after ${(await readyMs(page)).toFixed(0)} ms`);
	await close(page);
});

test("events of programs' own are marks on the time lines, which tell what they are", async () => {
	const page = await open(whole);

	await section(page, "timelines");
	const canvas = page.locator("#timelines canvas").first();
	await page.locator("#timelines canvas[data-drawn]").first().waitFor();
	await canvas.scrollIntoViewIfNeeded();
	const box = await canvas.boundingBox();
	await page.mouse.move(box.x + box.width / 10, box.y + 18 * 2 + 7);	// the third row's first one
	await page.locator(".tip:not([hidden])").waitFor();
	const tip = await page.locator(".tip").innerText();
	assert(/request\.END 201 at /.test(tip), `the tooltip is: ${tip}`);
	const words = await page.locator("#timelines .marks").innerText();
	assert(/^\u25cf events of the programs' own: request\.BEGIN, request\.END; 7\smore events are not drawn\.$/.test(words), words);
	await close(page);
});

test("threads that did nothing are the last rows of the time lines, with their marks", async () => {
	const lines = timelines(4), { marks: [, ...rest] } = wholeReport().marks;
	lines.threads[1].states = { condition: new Array(lines.parts).fill(1000) };
	const page = await open(makePage("idle", { ...wholeReport(), timelines: lines, marks: { ...wholeReport().marks, marks: rest.filter(([row]) => row === 1) } }));

	await section(page, "timelines");
	assert((await page.locator("#timelines .labels li").allInnerTexts()).map(text => text.split(" ")[0]).join() === "worker-0,worker-2,worker-3,worker-1", "another order");
	const canvas = page.locator("#timelines canvas[data-drawn]").first(), box = await canvas.boundingBox();
	await page.mouse.move(box.x + box.width / 10, box.y + 18 * 3 + 7);
	await page.locator(".tip:not([hidden])", { hasText: "request.END 101" }).waitFor();
	await close(page);
});

test("hosts are the outermost groups of threads, in bars and tables", async () => {
	const page = await open(makePage("hosts", hostsReport()));

	await section(page, "threads");
	await page.locator("#threads svg").nth(1).waitFor();
	assert((await page.locator("#threads h3").allInnerTexts()).map(text => text.split(" ")[0]).sort().join() === "db,web1", "there is no group for each host");
	assert((await page.locator("#threads th").first().innerText()).startsWith("host"), "the table has no hosts");
	await close(page);
	const one = await open(whole);
	await section(one, "threads");
	await one.locator("#threads svg").first().waitFor();
	assert(!await one.locator("#threads h3").count(), "a trace of one host has groups");
	await close(one);
});

test("the verdict comes first, and figures have units and tooltips", async () => {
	const page = await open(whole);

	assert(await page.locator("main section").first().getAttribute("id") === "verdict", "something else comes first");
	assert((await page.locator(".verdict").innerText()).includes("work_mutex"), "the verdict's words are not there");
	await page.locator(".figures div").first().hover();
	await page.locator(".tip:not([hidden])").waitFor();
	assert(/\d ns$/.test(await page.locator(".tip").innerText()), "the wall time's tooltip has no figure with a unit");
	await page.keyboard.press("Escape");
	await page.locator(".tip").waitFor({ state: "hidden" });
	await close(page);
});

test("the root causes come behind the verdict, each with how threads came to it, and no bar calls the time useful", async () => {
	const page = await open(whole), { verdict, blame } = wholeReport().report;
	const causes = page.locator("#causes .findings > li");

	assert((await page.locator("main section").evaluateAll(all => all.map(one => one.id))).slice(0, 4).join() === "verdict,causes,findings,balance", "another order");
	assert((await page.locator(".verdict p").allInnerTexts()).join() === verdict.lines.join(), "the verdict's lines are others than the text has");
	assert(await causes.count() === Math.min(5, blame.roots.length), `${await causes.count()} causes`);
	const first = (await causes.first().innerText()).replaceAll("\u00a0", " ");
	assert(first.includes(blame.roots[0].text) && /^72 %/.test(first) && /37.0 s \u00b1 800 ms lost, by 17 threads/.test(first), first);
	assert(!/useful/i.test(await page.locator("main").innerText()), "something is called useful");
	const wall = (await page.locator("#balance .slices").last().innerText()).replaceAll("\u00a0", " ");
	assert(/at most 16 threads\s25 %/.test(wall) && /more threads\s75 %/.test(wall), wall);
	await close(page);
});

test("zooming into one chart over time zooms into the others, with the mouse and with the keyboard", async () => {
	const page = await open(whole);
	const over = page.locator("#parallelism .u-over");
	const words = page.locator("#parallelism .range");

	await section(page, "parallelism");
	await over.waitFor();
	const box = await over.boundingBox();
	await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => / to /.test(document.querySelector("#parallelism .range").textContent));
	await section(page, "timelines");
	assert(await page.locator("#timelines .range").innerText() === await words.innerText(), "the time lines show another stretch");
	await page.locator("#timelines button", { hasText: "All" }).focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => /^all/.test(document.querySelector("#parallelism .range").textContent));
	await page.locator("#parallelism button[aria-label='Zoom in']").focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => / to /.test(document.querySelector("#parallelism .range").textContent));
	await close(page);
});

test("the chart over time tells what is under the pointer, and states can be hidden", async () => {
	const page = await open(whole);

	await section(page, "parallelism");
	await page.locator("#parallelism .u-over").hover({ position: { x: 300, y: 100 } });
	await page.locator(".tip:not([hidden])").waitFor();
	assert(/running: [\d.]+ threads/.test(await page.locator(".tip").innerText()), "no threads in its tooltip");
	await waitForColour(page, "#parallelism canvas", "c-running", true);
	await page.locator("#parallelism .legend button", { hasText: "running" }).click();
	await page.locator("#parallelism .legend button[aria-pressed='false']").waitFor();
	await waitForColour(page, "#parallelism canvas", "c-running", false);
	await close(page);
});

test("tables are sorted by a click, searched by words, opened, and copied as CSV", async () => {
	const page = await open(whole);
	const locks = await section(page, "locks");
	const names = () => locks.locator("tbody td:first-child").allInnerTexts();

	const before = await names();
	await locks.locator("th button", { hasText: "lock" }).first().click();
	await locks.locator("th[aria-sort='ascending']").waitFor();
	const after = await names();
	assert(after.join() === [...after].sort().join() && after.length === before.length, `not in order: ${after}`);
	await locks.locator("input[type=search]").fill("work_mutex");
	await page.waitForFunction(() => document.querySelectorAll("#locks tbody tr").length === 1);
	await locks.locator(".open").click();
	await locks.locator(".detail").waitFor();
	assert((await locks.locator(".detail").innerText()).includes("Released by"), "no unlockers in the detail");
	await locks.locator(".copy button").click();
	await locks.locator(".copy [role=status]", { hasText: "copied 1" }).waitFor();
	const csv = await page.evaluate(() => navigator.clipboard.readText());
	assert(/^"lock","kind","in","waited \(ns\)"/.test(csv) && /"work_mutex","mutex"/.test(csv), csv);
	await close(page);
});

test("locks of one kind and name, or of one place, are one row, as in the text, and the end of a thread is no lock", async () => {
	const page = await open(makePage("classes", lockClassesReport()));
	const locks = await section(page, "locks"), rows = locks.locator("tbody tr");

	assert((await rows.locator("td:first-child").allInnerTexts()).join() === "33 locks,2 cache.lock,0x77f0,work_mutex", `rows: ${await rows.locator("td:first-child").allInnerTexts()}`);
	const row = (await rows.first().innerText()).replaceAll("\u00a0", " ").split(/\t/);
	assert(row.slice(1, 5).join() === "futex,commit(int),66.0 ms,66", `the first row is ${row}`);
	assert(row[7] === "1.32 ms", `the longest wait is ${row[7]}, not that of one lock`);
	await locks.locator(".open").first().click();
	assert(await locks.locator(".detail details").count() === 33, "its locks are not in the details");
	await locks.locator("input[type=search]").fill("0x7320");
	await page.waitForFunction(() => document.querySelectorAll("#locks tbody .open").length === 1);
	await close(page);
});

test("figures have a tooltip with a unit", async () => {
	const page = await open(whole);

	await drawAll(page);
	const bare = await bareFigures(page);
	assert(!bare.length, bare.slice(0, 5).join("\n"));
	assert(await page.locator("td.number").count() > 100, "too few figures in tables");
	await close(page);
});

test("what each chart draws is copied as CSV, with units", async () => {
	const page = await open(whole);

	await drawAll(page);
	for (const [of, titles, row] of [
		["the balance sheet", '"of","what","time (ns)"', /^"thread time","running",\d+$/],
		["findings", '"share of thread time","finding","pattern","evidence"', /^0\.\d+,"/],
		["parallelism over time", '"since (ns)","running (threads)","waiting for a CPU (threads)"', /^0,[\d.]+,/],
		["active threads", '"from (threads)","to (threads)","time (ns)"', /^\d+,\d+,\d+$/],
		["threads by CMetric", '"thread","tid","CMetric on a CPU (ns)","CMetric waiting for a CPU (ns)"', /^"[^"]+",\d+,\d+,\d+$/],
		["CMetric", '"stack","time (ns)","in itself (ns)"', /^"CMetric",\d+,0$/],
		["time lines", '"thread","tid","state","since (ns)","threads"', /^"worker-0",100,"[^"]+",\d+,1$/],
		["nodes", '"what","below","kind","time (ns)","times (times)","longest (ns)","node","below node"', /^"all threads","","threads",4000000000,1,4000000000,0,$/],
		["the critical path", '"begin (ns)","end (ns)","depth","who","kind","what","ended by"', /^0,\d+,\d,"main/],
		["parts of the path", '"who","did what","ended by","time (ns)"', /^"main/],
	]) {
		const [first, second] = await copied(page, of);
		assert(first.startsWith(titles) && row.test(second), `${of}: ${first}\n${second}`);
	}
	const buttons = await page.locator("main .copy").count(), charts = await page.locator("main section").filter({ has: page.locator("svg:not(.swatch), canvas") }).count();
	assert(buttons >= charts, `${buttons} buttons for ${charts} sections with charts`);
	await close(page);
});

test("a table is searched, sorted, opened and gone through by keys", async () => {
	const page = await open(makePage("keys", largeReport()));
	const locks = await section(page, "locks");
	const focused = () => page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.getAttribute("aria-label"));

	await locks.locator("input[type=search]").focus();
	await page.keyboard.type("n1");
	await page.keyboard.press("Tab");
	assert(await focused() === "CSV", `behind the search is ${await focused()}`);
	await page.keyboard.press("Tab");
	assert(await focused().then(name => name.startsWith("lock")), `behind that is ${await focused()}`);
	await page.keyboard.press("End");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await locks.locator("th[aria-sort='ascending']").waitFor();
	await page.keyboard.press("Space");
	await locks.locator("th[aria-sort='descending']").waitFor();
	const heads = await locks.locator("th").count();
	for (let i = 0; i < heads; i++)
		await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await locks.locator(".detail").waitFor();
	assert(await locks.locator(".open[aria-expanded='true']").count() === 1, "no row is open");
	await locks.locator(".rows").focus();
	const before = await locks.locator("tbody tr:not(.spacer)").first().getAttribute("aria-rowindex");
	for (let i = 0; i < 4; i++)
		await page.keyboard.press("PageDown");
	await page.waitForFunction(old => document.querySelector("#locks tbody tr:not(.spacer)").getAttribute("aria-rowindex") !== old, before);
	await close(page);
});

test("a finding leads to its wait, with its stack and who ended it", async () => {
	const page = await open(whole);
	const link = page.locator("#findings a[href='#waits']").first();

	await section(page, "findings");
	await link.click();
	await page.locator("#waits .detail").waitFor();
	assert((await page.locator("#waits .detail").innerText()).includes("Ended by"), "nobody who ended it");
	await close(page);
});

test("call paths of programs without debug information are named, coloured and folded as in the text", async () => {
	const page = await open(makePage("stripped", strippedReport()));
	const waits = await section(page, "waits"), flames = await section(page, "flames");

	assert((await waits.locator("tbody .open").allInnerTexts()).sort().join() === "log_write,srw_lock::wait", "a wait is named after libc or the kernel");
	assert((await (await section(page, "paths")).locator("tbody .open").first().innerText()) === "srw_lock::wait", "a call path is named after another frame");
	assert(await flames.locator(".frame[data-tip^='srw_lock'] rect.f-own").count() === 1, "the program's own code has another colour");
	assert(await flames.locator(".frame[data-tip^='syscall'] rect.f-library").count() === 1, "libc is no library");
	await waits.locator("tbody .open", { hasText: "srw_lock" }).click();
	const stack = waits.locator(".detail .stack").first();
	assert(await stack.locator("summary").innerText() === "thread start, 2\u00a0frames", "boilerplate is not folded");
	assert(await stack.locator(".is-headline").innerText() === "srw_lock::wait serverd", "another frame is the headline");
	await close(page);
});

test("details open below their row, and rows of long tables keep their places around them", async () => {
	const page = await open(makePage("below", largeReport()));
	const paths = await section(page, "paths"), rows = paths.locator(".rows"), names = () => paths.locator("tbody tr:not(.spacer):not(.detail-row)");
	const index = i => names().nth(i).getAttribute("aria-rowindex");

	await names().nth(3).locator(".open").click();
	await paths.locator(".detail").waitFor();
	const [row, detail] = [await names().nth(3).boundingBox(), await paths.locator(".detail").boundingBox()];
	assert(Math.abs(row.y + row.height - detail.y) < 3, `the row ends at ${row.y + row.height}, its details begin at ${detail.y}`);
	assert(detail.width <= (await rows.boundingBox()).width, "the details are wider than the table");
	await rows.evaluate(box => { box.scrollTop = box.scrollHeight; });
	await page.waitForFunction(() => [...document.querySelectorAll("#paths tr[aria-rowindex]")].some(one => one.getAttribute("aria-rowindex") === "1001"));
	assert(!await paths.locator(".detail").count(), "the details are in the page though their row is not");
	const last = await rows.evaluate(box => box.getBoundingClientRect().bottom - box.querySelector("tr[aria-rowindex='1001']").getBoundingClientRect().bottom);
	assert(Math.abs(last) < 20, `the last row ends ${last} pixels above the box`);
	await rows.evaluate(box => { box.scrollTop = 0; });
	await paths.locator(".detail").waitFor();
	assert(await index(0) === "2", "the first row is another one");
	await paths.locator(".close").click();
	await paths.locator(".detail").waitFor({ state: "detached" });
	await close(page);
});

test("a link lands on its section, however late that is there and whatever is drawn above it", async () => {
	const page = await open(whole, { height: 600 });
	const hasLanded = id => page.waitForFunction(name => {
		const section = document.getElementById(name), top = section?.getBoundingClientRect().top;
		return top >= 0 && top < 80 && !section.querySelector(".waiting");
	}, id);

	await page.locator("nav a", { hasText: "Graph" }).click();
	await hasLanded("graph");
	await page.evaluate(() => scrollTo(0, 0));
	await page.locator("nav a", { hasText: "Graph" }).click();	// the address is the same
	await hasLanded("graph");
	await page.evaluate(() => { location.hash = "timelines"; location.reload(); });
	await page.waitForFunction(() => performance.getEntriesByName("pinch-ready").length > 0);
	await hasLanded("timelines");
	await page.evaluate(() => document.querySelector("#balance").style.setProperty("padding-top", "700px"));	// something comes late
	await hasLanded("timelines");
	await page.mouse.wheel(0, -900);
	await page.waitForFunction(() => document.getElementById("timelines").getBoundingClientRect().top > 500);
	await page.evaluate(() => document.querySelector("#about").style.setProperty("padding-top", "300px"));
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	assert(await page.evaluate(() => document.getElementById("timelines").getBoundingClientRect().top) > 500, "the page goes back to where the reader has left");
	await close(page);
});

test("flame graphs go into frames and back, by mouse and by keys, and find words", async () => {
	const page = await open(whole);
	const flames = await section(page, "flames");

	await flames.locator(".frame").first().waitFor();
	const all = await flames.locator(".frame").count();
	await flames.locator(".frame").nth(all - 1).click();
	await flames.locator("button", { hasText: "Show all" }).waitFor();
	await flames.locator("svg.flame").focus();
	await page.keyboard.press("Escape");
	await flames.locator("button", { hasText: "Show all" }).waitFor({ state: "detached" });
	await page.keyboard.press("ArrowDown");
	assert(!/^CMetric/.test(await flames.locator(".status").innerText()), "the arrow key went nowhere");
	for (const title of ["Lost parallelism", "Lock waits"]) {
		await flames.locator("button", { hasText: title }).click();
		await flames.locator(`svg[aria-label*='${title}']`).waitFor();
		assert(await flames.locator(".frame").count() > 1, `nothing is drawn of ${title}`);
	}
	await flames.locator("input[type=search]").fill("work");
	await flames.locator(".is-found").first().waitFor();
	assert(/% found/.test(await flames.locator("[role=status]").first().innerText()), "no share of what is found");
	await close(page);
});

test("the graph is drawn in layers, moved, brought nearer, and has as many nodes as wanted", async () => {
	const page = await open(whole);
	const graph = await section(page, "graph");
	const place = () => graph.locator("svg.graph > g").getAttribute("transform");

	await graph.locator(".node").first().waitFor();
	const columns = new Set(await graph.locator(".edge").evaluateAll(edges => edges.map(edge => edge.getAttribute("stroke-width"))));
	assert(columns.size > 3, "edges are all as wide");
	const before = await place();
	await graph.locator("button[aria-label=Nearer]").click();
	await page.waitForFunction(old => document.querySelector("svg.graph > g").getAttribute("transform") !== old, before);
	await graph.locator("svg.graph").focus();
	const nearer = await place();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(old => document.querySelector("svg.graph > g").getAttribute("transform") !== old, nearer);
	const nodes = await graph.locator(".node").count();
	await graph.locator("input[type=range]").focus();
	await page.keyboard.press("End");
	await page.waitForFunction(old => document.querySelectorAll("#graph .node").length > old, nodes);
	await close(page);
});

test("hostile names stay text", async () => {
	const page = await open(makePage("hostile", hostileReport()));

	await drawAll(page);
	assert(!await page.evaluate(() => window.hacked), "a script in a name ran");
	assert(await page.locator("main img, main script").count() === 0, "a name became an element");
	assert((await page.locator(".verdict").innerText()).includes("<script>"), "the verdict is not shown as it is");
	assert((await page.title()).includes("<script>"), "the title is not shown as it is");
	assert((await page.locator("#graph .node").first().getAttribute("data-tip")).startsWith("</script>"), "the label of a node is something else");
	assert(!(await page.locator("main").innerText()).includes("\u202e"), "a name turns the text around");
	await shot(page, "hostile");
	await close(page);
});

test("an empty report has all its sections, and says that there is nothing", async () => {
	const page = await open(makePage("empty", emptyReport()));

	await drawAll(page);
	assert((await page.locator(".verdict").innerText()).includes("No thread"), "no verdict");
	await shot(page, "empty");
	await close(page);
});

test("a report whose data is damaged says so", async () => {
	const file = makePage("damaged", emptyReport());

	writeFileSync(file, readFileSync(file, "utf8").replace(/(data-part="report"[^>]*>.{60})..../, "$1AAAA"));
	const page = await open(file);
	await page.locator("[role=alert]", { hasText: "cannot be read" }).waitFor();
	await close(page);
});

test("a report with many threads, paths and locks is drawn", async () => {
	const page = await open(makePage("large", largeReport()));

	note(`10,000 threads: ready after ${(await readyMs(page)).toFixed(0)} ms`);
	await drawAll(page);
	assert(await page.locator("#threads tbody tr").count() < 100, "all rows are in the page");
	await page.locator("#threads input").fill("n9999");
	await page.waitForFunction(() => document.querySelectorAll("#threads tbody tr").length === 1);
	await close(page);
});

test("what had no room in the page is reported, and has its width in the flame graphs", async () => {
	const page = await open(makePage("partial", partialReport()));
	const flames = await section(page, "flames");

	for (const [title, words] of [["CMetric", "4,000\u00a0further call paths, or unknown"], ["Lost parallelism", "7,500\u00a0further call paths\n5.00\u00a0s"],
		["Lock waits", "7,000\u00a0further call paths\n4.00\u00a0s"]]) {
		await flames.locator("button", { hasText: title }).click();
		await flames.locator(`svg[aria-label*='${title}']`).waitFor();
		assert((await flames.locator(".frame").evaluateAll(all => all.map(frame => frame.getAttribute("data-tip")))).some(tip => tip.startsWith(words)),
			`${title}: no frame of the rest`);
	}
	for (const [id, words] of [["waits", "7,500\u00a0further call paths, in which 5.00\u00a0s were lost"], ["locks", "The threads that released them are listed for the 1\u00a0lock"],
		["graph", "12,345\u00a0further nodes"]])
		assert((await (await section(page, id)).textContent()).includes(words), `#${id} does not say so`);
	await close(page);
});

test("it is dark when the system is, or when the user wants it, and what is drawn follows", async () => {
	const page = await open(whole, { scheme: "dark" });
	const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	const dark = await ground();
	await drawAll(page);
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "report-dark");
	await page.locator(".theme").click();
	await page.waitForFunction(old => getComputedStyle(document.body).backgroundColor !== old, dark);
	assert(await ground() === "rgb(255, 255, 255)", "light is not white");
	await close(page);
});

test("it can be read at 360 pixels", async () => {
	const page = await open(whole, { width: 360, height: 740 });

	await drawAll(page);
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert(over <= 0, `the page is ${over} pixels wider than the screen`);
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, "report-360");
	await close(page);
	const large = await open(makePage("large-360", largeReport()), { width: 360, height: 740 });
	for (const id of ["threads", "locks", "paths", "graph"]) {
		const left = await (await section(large, id)).locator("th").nth(1).evaluate(head => head.getBoundingClientRect().left);
		assert(left < 300, `#${id}: the second column begins at ${left} pixels`);
	}
	await close(large);
});

const PRINTED = { "c-running": [0x2a, 0x9d, 0x5c], "c-runnable": [0xe8, 0x92, 0x3a] };	// of style.css, light

/** Of the pixels of a picture in the format PPM. */
function shareOfColour(ppm, name) {
	const [, width, height] = /^P6\s(\d+) (\d+)\s255\s/.exec(ppm.toString("latin1", 0, 40)), first = ppm.length - 3 * width * height;
	let found = 0;

	for (let at = first; at < ppm.length; at += 3)
		found += PRINTED[name].every((value, i) => Math.abs(value - ppm[at + i]) < 12);
	return found / (width * height);
}

test("it is printed with all its sections, light even in the dark", async () => {
	const page = await open(whole, { scheme: "dark" });

	const file = join(SHOTS, "report.pdf"), ask = (tool, options, out = []) => execFileSync(tool, [...options, file, ...out], { maxBuffer: 1 << 28 });

	await page.locator("#path").waitFor();
	await page.pdf({ path: file, format: "A4", printBackground: true });
	await close(page);
	const text = ask("pdftotext", ["-layout"], ["-"]).toString().replaceAll("\u00a0", " "), report = wholeReport().report;
	for (const [what, words] of [["the command", /^pinch ferret corel/m], ["the verdict", /Main bottleneck/], ["bars of active threads", /1 thread +[\d.]+ % \u00b7/],
		["bars of threads", new RegExp(`${report.threads[0].name} \\d+ +[\\d.]+ m?s$`, "m")], ["a flame graph", /CMetric[\s\S]*big_work/], ["labels of time lines", /worker-23 123/],
		["the graph", /thread 1\b|wait 1\b|running 1\b/], ["the heads of tables", /waited +waits +p50/]])
		assert(words.test(text), `${what} is not printed`);
	assert(text.match(/thread +tid +group/g).length > 1, "the heads of the threads are not printed on their second page");
	assert(!/\\u2026/.test(text) && !/when it comes into view/.test(text), "there are escapes, or sections that were not drawn");
	for (const [title, name] of [["Parallelism", "c-running"], ["Time lines of threads", "c-running"], ["Critical path", "c-runnable"]]) {
		const at = String(1 + text.split("\f").findIndex(one => new RegExp(`^${title}$`, "m").test(one)));
		const share = shareOfColour(ask("pdftoppm", ["-r", "40", "-f", at, "-l", at]), name);
		assert(share > 0.005, `${title}: ${share} of page ${at} has the colour ${name}`);
	}
});

test("of a report with many rows the first ones are printed, on pages that are not empty, with all their columns", async () => {
	const page = await open(makePage("large-printed", largeReport()));
	const file = join(SHOTS, "large.pdf");

	await page.locator("#path").waitFor();
	await page.pdf({ path: file, format: "A4", printBackground: true });
	const pages = readFileSync(file, "latin1").match(/\/Type \/Page\b/g).length;
	assert(pages < 40, `${pages} pages`);
	await page.emulateMedia({ media: "print" });
	await page.setViewportSize({ width: 690, height: 1000 });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	await page.waitForFunction(() => !document.querySelector(".is-virtual"));
	assert(await page.locator("#locks tbody tr").count() === 40, "not 40 rows of a table");
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert(await page.locator("#timelines .range").isVisible(), "it is not printed how long the time lines are");
	assert(over <= 0, `what is printed is ${over} pixels wider than the paper`);
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	await page.waitForFunction(() => document.querySelector("#locks .is-virtual"));
	await close(page);
});

for (const scheme of ["light", "dark"])
	test(`axe-core finds no serious fault in the ${scheme}`, async () => {
		const page = await open(whole, { scheme });

		await drawAll(page);
		await (await section(page, "locks")).locator(".open").first().click();
		const found = await faults(page);
		assert(!found.length, found.join("\n"));
		await close(page);
	});

await main();
