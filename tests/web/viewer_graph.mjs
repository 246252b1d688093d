// SPDX-License-Identifier: GPL-2.0-or-later
// What the graph of pinch view draws besides states: curves, colours, activities, messages, gaps, notes, and what is saved of it. With a
// server of a trace that was made up. Screenshots stay in $O/web-shots.
import { assert, faults, main, shot, test } from "./browser.mjs";
import { SHARES } from "./made_trace.mjs";
import { address, box, canvas, curveBox, customColour, downloaded, drawn, end, go, hideOverlays, lane, pixels, settled, stateColours, threadSeen, view } from "./view_page.mjs";

const WORDS_PX = 90;			// the scale of a curve lies there
const CURVES = [["running", "c-running", ["running"]], ["run queue", "c-runnable", ["runnable"]], ["disk", "c-file", ["file"]], ["network", "c-socket", ["socket"]]];

/** How many threads are in some states at a column of the picture, on average, by the states that were made up. */
function threadsAt(trace, states, [from, to]) {
	return trace.lanes.filter(lane => lane.parent < 0 && lane.kind === "host").reduce((all, host) => {
		const sums = trace.sharesIn(host, from, to);
		return all + states.reduce((sum, state) => sum + (sums.get(SHARES.indexOf(state)) ?? 0), 0) / (to - from);
	}, 0);
}

/** Some columns of the picture, and their times. */
async function columnsOf(page, count) {
	const [from, to] = (await canvas(page).getAttribute("data-view")).split("~").map(Number), { width } = await box(page), step = (to - from) / Math.round(width);

	return Array.from({ length: count }, (_, i) => WORDS_PX + Math.floor((i + 0.5) * (width - WORDS_PX) / count)).map(x => ({ x, from: from + x * step, to: from + (x + 1) * step }));
}

test("curves say how many threads run and wait for CPUs, disks and networks; each can be hidden", async () => {
	const page = await view();

	await go(page, "view=300000000~304000000&hide=wakes.marks.activities.messages");
	const columns = await columnsOf(page, 40);
	for (const [title, property, states] of CURVES) {
		const { top, height } = await curveBox(page, title), ink = await customColour(page, property);
		const heights = await Promise.all(columns.map(async ({ x }) => (await pixels(page, x, top + 2, 1, height - 6)).filter(([pixel]) => pixel === ink).length));
		const threads = columns.map(({ from, to }) => threadsAt(page.trace, states, [from, to]));
		const most = Number(new URLSearchParams(await canvas(page).getAttribute("data-scales")).get(title.replace(" ", "-")));
		for (const [i, n] of threads.entries())
			assert(Math.abs(n / most * (height - 6) - heights[i]) <= 1.5, `${title} at ${columns[i].x}: ${heights[i]} pixels for ${n.toFixed(3)} of ${most} threads`);
	}
	await shot(page, "viewer-curves", false);
	const lanesBefore = (await lane(page, await threadSeen(page)).boundingBox()).y;
	await page.locator(".graph-box").getByRole("button", { name: "Network", exact: true }).click();
	await address(page, search => search.get("hide") === "wakes.marks.activities.messages.network");
	await page.locator(".head-label", { hasText: /^network$/ }).waitFor({ state: "detached" });
	await settled(page);
	assert((await lane(page, await threadSeen(page)).boundingBox()).y < lanesBefore, "the lanes do not get the space");
	await end(page);
});

test("colours say the application, or how many share a moment", async () => {
	const page = await view(), process = page.trace.lanes.find(lane => lane.kind === "process").id, ids = page.trace.lanes.filter(lane => lane.kind === "process").map(lane => lane.id);

	await hideOverlays(page);
	const states = await stateColours(page), [columns] = [[200, 400, 600]], share = (pixels, colour) => pixels.filter(pixel => pixel === colour).length;
	const before = await Promise.all(ids.map(id => drawn(page, id, columns)));
	await page.getByRole("button", { name: "by application" }).click();
	await address(page, search => search.get("colour") === "application");
	await settled(page);
	const names = await page.locator(".legend > span:not(.muted)").allInnerTexts();
	for (const [i, id] of ids.entries()) {
		const colour = await customColour(page, `k-${names.indexOf(page.trace.lanes[id].name)}`), now = await drawn(page, id, columns);
		for (const [c, column] of now.entries())
			assert(share(column, colour) === share(before[i][c], states[1]) + share(before[i][c], states[2]) && share(column, colour) > 0, `${share(column, colour)} pixels of ${colour} in lane ${id}`);
	}
	await shot(page, "viewer-application", false);
	await page.getByRole("button", { name: "by weight" }).click();
	await address(page, search => search.get("colour") === "weight");
	await go(page, "view=300000000~304000000&hide=wakes.marks.activities.messages&colour=weight");
	const weights = await Promise.all([0, 1, 2, 3, 4].map(i => customColour(page, `w-${i}`))), seen = new Set();
	for (const { x, from, to } of await columnsOf(page, 60)) {
		const n = threadsAt(page.trace, ["running", "spinning", "runnable"], [from, to]), level = [1, 2, 4, 8, Infinity].findIndex(most => n <= most);
		const [column] = await drawn(page, process, [x]), found = weights.filter(colour => column.includes(colour));
		if ([1, 2, 4, 8].some(most => Math.abs(n - most) < 0.01))
			continue;			// roundings decide
		assert(found.every(colour => colour === weights[level]), `${found} at ${x}, where ${n.toFixed(2)} threads are active`);
		found.forEach(colour => seen.add(colour));
	}
	assert(seen.size > 1, `only ${[...seen]} is seen`);
	await shot(page, "viewer-weight", false);
	await end(page);
});

async function tipAt(page, x, y, holds) {
	const area = await box(page);

	await page.mouse.move(area.x + x, area.y + y);
	await page.waitForFunction(source => new RegExp(source).test(document.querySelector(".tip:not([hidden])")?.textContent ?? ""), holds.source);
	return page.locator(".tip").innerText();
}

/** What lies at this place of the picture has a colour. */
async function waitForPixel(page, x, y, colour) {
	await page.waitForFunction(([x, y, colour]) => {
		const { data } = document.querySelector(".graph-canvas canvas").getContext("2d").getImageData(x, y, 1, 1);
		return "#" + [0, 1, 2].map(i => data[i].toString(16).padStart(2, "0")).join("") === colour;
	}, [Math.round(x), Math.round(y), colour]);
}

test("activities are bars in the lanes of their threads, messages arrows from who sent to who received; both can be hidden", async () => {
	const page = await view(), id = page.trace.lanes.find(lane => lane.thread === 1).id, area = await box(page);

	await go(page, "view=200000000~230000000&sort=name&hide=wakes.marks");
	const bars = page.trace.activities.filter(one => one.thread === 1 && !one.is_message && one.end_ns > 2e8 && one.begin_ns < 2.3e8), x = time => (time - 2e8) / 3e7 * area.width;
	const row = await lane(page, id).boundingBox(), bottom = row.y - area.y + row.height - 3;
	assert(bars.length === 4, `${bars.length} bars`);
	for (const { name, begin_ns, end_ns, words } of bars) {
		const y = bottom - (name === "parse" ? 8 : 3), colour = await customColour(page, `k-${["request", "parse"].indexOf(name)}`);
		if (x(end_ns) < 2)
			continue;
		await waitForPixel(page, Math.max(2, x(begin_ns) + 3), y, colour);
		await waitForPixel(page, Math.min(area.width - 2, x(end_ns) - 3), y, colour);
		const told = await tipAt(page, Math.max(2, Math.min(area.width - 2, (x(begin_ns) + x(end_ns)) / 2)), y, new RegExp(`${name}, `));
		assert(told.includes(words), told);
	}
	const mail = page.trace.activities.find(one => one.is_message && one.thread === 1 && one.begin_ns > 2e8), middle = (x(mail.begin_ns) + x(mail.end_ns)) / 2;
	const rows = await Promise.all([1, 2].map(thread => lane(page, page.trace.laneOf.get(thread)).boundingBox())), y = (rows[0].y + rows[1].y + 17) / 2 - area.y;
	const told = await tipAt(page, middle, y, /\u2192/);
	assert(/worker0 20001 to worker0 20002: mail, 1.00\sms since/.test(told), told);
	await shot(page, "viewer-activities", false);
	await page.locator(".graph-box").getByRole("button", { name: "Messages", exact: true }).click();
	await address(page, search => search.get("hide") === "wakes.marks.messages");
	await settled(page);
	assert(!/\u2192/.test(await tipAt(page, middle, y, /./)), "the arrow is still there");
	await page.locator(".graph-box").getByRole("button", { name: "Activities", exact: true }).click();
	await settled(page);
	const [{ begin_ns }] = bars.slice(1), [[pixel]] = await pixels(page, x(begin_ns) + 5, bottom - 3, 1, 1);
	assert(pixel !== await customColour(page, "k-0"), "the bar is still there");
	await end(page);
});

test("a filter of processes and threads holds for the graph, the lists, the report and what is saved, and is in the link", async () => {
	const page = await view(), { lanes } = page.trace, processes = lanes.filter(lane => lane.kind === "process"), [one, other] = processes;
	const threads = lanes.filter(lane => lane.kind === "thread" && lane.pid === one.pid), some = threads.filter(lane => lane.name === threads[0].name);
	const asked = (path, wanted) => page.server.asked.some(url => url.startsWith(`/${path}?`) && wanted(new URL(url, "http://x").searchParams));
	const isOf = list => search => search.getAll("thread").map(Number).sort((a, b) => a - b).join() === list.map(lane => lane.thread).sort((a, b) => a - b).join();

	await page.locator("#report").scrollIntoViewIfNeeded();
	await page.locator("#verdict").waitFor();
	await page.getByLabel("Only this process").fill(String(one.pid));
	await settled(page);
	assert(await lane(page, other.id).count() === 0, "the other process is still there");
	assert(await page.locator(".lane.is-cpu").count() > 0, "CPUs are gone");
	await page.getByLabel("Only this thread").fill(threads[0].name);
	await settled(page);
	assert(await page.locator(".lane.is-thread").count() === some.length, `${await page.locator(".lane.is-thread").count()} lanes, not ${some.length}`);
	assert((await address(page, search => search.get("thread"))).get("process") === String(one.pid), "the link has no filter");
	await page.locator("#report").getByRole("button", { name: "Report of the selection" }).click();
	await page.waitForFunction(count => document.querySelector("#report .about").textContent.replace(/\s/g, " ").includes(`Of ${count} threads`), some.length);
	assert(asked("report", isOf(some)), `${page.server.asked.filter(url => url.startsWith("/report"))}`);
	assert(isOf(some)(new URL(await page.locator("#report a", { hasText: "Save as trace" }).getAttribute("href"), "http://x").searchParams), "others would be saved");
	assert(asked("events", search => search.getAll("process").length === 1 && search.getAll("thread").length > 0), "the list is of others");
	await page.getByLabel("Only this process").fill("");
	await page.getByLabel("Only this thread").fill("");
	await settled(page);
	assert(await lane(page, other.id).count() === 1, "the other process stays away");
	await end(page);
});

test("where records were lost, lanes are hatched as long as nobody knows what they did, and the axis says when", async () => {
	const page = await view({ gaps: [{ begin_ns: 4e8, end_ns: 4.2e8 }] }), area = await box(page), muted = await customColour(page, "muted");

	await go(page, "view=390000000~440000000&hide=wakes.marks.activities.messages");
	const x = time => (time - 3.9e8) / 5e7 * area.width, ids = await page.$$eval(".lane.is-thread", lanes => lanes.slice(0, 6).map(lane => Number(lane.dataset.lane)));
	const hatches = column => column.filter(pixel => pixel === muted).length;
	for (const id of ids) {
		const unknown = page.trace.statesOf(page.trace.lanes[id].thread).find(slice => slice.share === 0), end = Math.min(area.width - 8, x(unknown.end));
		const columns = await drawn(page, id, [...Array(8).keys()].map(i => Math.floor(x(4e8)) + 2 + i)), known = await drawn(page, id, [...Array(8).keys()].map(i => Math.floor(x(4e8)) - 12 + i));
		const last = await drawn(page, id, [...Array(8).keys()].map(i => Math.floor(end) - 10 + i));
		for (const [found, is] of [[columns, true], [known, false], [last, true]])
			assert((found.reduce((sum, column) => sum + hatches(column), 0) >= 10) === is, `lane ${id} is ${is ? "not " : ""}hatched`);
	}
	const told = await tipAt(page, x(4.1e8), 39, /records were lost/);
	assert(/400.000.000\sms|0.4\d*/.test(told), told);
	await page.getByLabel("Search lanes").fill("cpu");
	const cpu = page.trace.lanes.find(lane => lane.kind === "cpu").id;
	await lane(page, cpu).waitFor();
	await settled(page);
	assert((await drawn(page, cpu, [...Array(8).keys()].map(i => Math.floor(x(4.1e8)) + i))).reduce((sum, column) => sum + hatches(column), 0) >= 10, "the CPU is not hatched");
	await shot(page, "viewer-gap", false);
	await end(page);
});

test("notes at a time or a lane are set, written, kept by the link and the browser, lead to their place, and are deleted", async () => {
	const page = await view(), id = await threadSeen(page);

	await page.locator(".graph-canvas").press("m");
	await page.waitForFunction(() => document.activeElement.matches(".notes input"));
	await page.keyboard.type("here it begins");
	const area = await box(page), row = await lane(page, id).boundingBox();
	await page.mouse.click(area.x + 300, row.y + 8);
	await page.locator(".graph-canvas").press("m");
	await page.waitForFunction(() => document.activeElement.matches(".notes input") && !document.activeElement.value);
	await page.keyboard.type("slow <b>one</b>");
	const search = await address(page, search => search.getAll("note").length === 2 && search.getAll("note").some(note => note.endsWith("slow <b>one</b>")));
	const notes = search.getAll("note"), at_ns = Math.round(300 / area.width * page.trace.whole_ns);
	assert(notes[0] === `${id}@${at_ns}:slow <b>one</b>` && notes[1] === `@${page.trace.whole_ns / 2}:here it begins`, `${notes}, not ${id}@${at_ns}`);
	await page.evaluate(() => scrollTo(0, 0));
	await settled(page);
	assert(/\u2691 here it begins/.test(await tipAt(page, (await box(page)).width / 2, 39, /\u2691/)), "no tooltip");
	await shot(page, "viewer-notes", false);
	await go(page, "view=800000000~810000000");
	await page.locator(".notes .open").nth(1).click();
	await address(page, search => search.get("at") === String(page.trace.whole_ns / 2) && Number(search.get("view").split("~")[0]) < 5e8);
	await page.goto(page.server.url);			// a new link, without them
	await settled(page);
	assert(String(await page.$$eval(".notes input", inputs => inputs.map(input => input.value))) === "slow <b>one</b>,here it begins", "the browser has not kept them");
	await page.locator(".notes .forget").first().click();
	await page.locator(".notes .forget").first().click();
	await page.locator(".notes").waitFor({ state: "detached" });
	await page.goto(page.server.url);
	await settled(page);
	assert(!await page.locator(".notes").count(), "they are back");
	await end(page);
});

test("a box selects time and lanes; the trace that is saved and the list are of both", async () => {
	const page = await view({ events: 3000 }), area = await box(page), threads = await page.$$eval(".lane.is-thread", lanes => lanes.slice(0, 3).map(lane => Number(lane.dataset.lane)));
	const rows = await Promise.all(threads.map(id => lane(page, id).boundingBox()));

	await page.keyboard.down("Shift");
	await page.mouse.move(area.x + 200, rows[0].y + 5);
	await page.mouse.down();
	await page.mouse.move(area.x + 500, rows[2].y + 5, { steps: 5 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	const search = await address(page, search => search.get("sel") && search.get("box"));
	assert(search.get("box") === threads.join("."), search.get("box"));
	await page.locator(".selected", { hasText: "3\u202flanes" }).or(page.locator(".selected", { hasText: /of 3\slanes/ })).first().waitFor();
	await shot(page, "viewer-box", false);
	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.locator("#events tbody tr[aria-rowindex='2'] td").first().waitFor();
	await page.getByRole("button", { name: "In the selected time" }).click();
	const [from, to] = search.get("sel").split("~").map(Number), numbers = threads.map(id => page.trace.lanes[id].thread);
	const wanted = Array.from({ length: 3000 }, (_, row) => page.trace.event(row)).filter(event => event.time_ns >= from && event.time_ns < to && numbers.includes(event.thread)).length;
	await page.locator("#events [role=status]", { hasText: new RegExp(`^${wanted}\\sevents`) }).waitFor();
	await page.locator("#report").scrollIntoViewIfNeeded();
	const link = new URL(await page.locator("a.button", { hasText: "Save as trace" }).getAttribute("href"), page.server.url);
	assert(String(link.searchParams.getAll("thread")) === String(numbers.sort((a, b) => a - b)) && link.searchParams.get("from") === String(from), link.search);
	for (const [title, format] of [["Perfetto", "perfetto"], ["speedscope", "speedscope"], ["Folded", "folded"]]) {
		const other = new URL(await page.locator("a.button", { hasText: title }).getAttribute("href"), page.server.url);
		assert(other.pathname === link.pathname && other.searchParams.get("format") === format, other.href);
		other.searchParams.delete("format");
		assert(other.search === link.search, `${title} would be of another part: ${other.search}`);
	}
	await page.locator(".graph-canvas").press("Escape");
	await address(page, search => !search.get("sel") && !search.get("box"));
	await end(page);
});

test("what is seen is saved as a picture of pixels or paths, how the selection spent its time as CSV and JSON", async () => {
	const page = await view();

	await go(page, "view=300000000~320000000&sel=305000000~310000000&sort=name&box=2.3.4");
	const png = await downloaded(page, "PNG"), area = await box(page);
	assert(png.name === "made.pinch.png" && png.bytes.readUInt32BE(16) === Math.round(area.width) + 220, `${png.name}, ${png.bytes.readUInt32BE(16)} wide`);
	const svg = await downloaded(page, "SVG"), text = svg.bytes.toString();
	const same = await page.evaluate(async ([text, left]) => {
		const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), parsed = new DOMParser().parseFromString(text, "image/svg+xml");
		URL.revokeObjectURL(url);
		return { error: parsed.querySelector("parsererror")?.textContent, texts: [...parsed.querySelectorAll("text")].map(text => text.textContent), paths: parsed.querySelectorAll("path").length, left };
	}, [text, 220]);
	assert(!same.error && same.paths > 50 && same.texts.includes("worker0 20001"), JSON.stringify(same).slice(0, 300));
	const json = JSON.parse((await downloaded(page, "JSON")).bytes), csv = (await downloaded(page, "CSV")).bytes.toString().trim().split("\r\n").map(line => line.split(","));
	assert(json.from_ns === 305e6 && json.to_ns === 310e6 && json.lanes.length === 3, `${json.from_ns} ${json.lanes.length}`);
	for (const [i, { ns, name, tid }] of json.lanes.entries()) {
		const lane = page.trace.lanes[2 + i], sums = page.trace.sharesIn(lane, 305e6, 310e6);
		assert(name === lane.name && tid === lane.tid && ns.every((n, share) => n === (sums.get(share) ?? 0)), `lane ${lane.id}: ${ns}`);
		for (const [column, title] of csv[0].entries())
			if (/_ns"$/.test(title) && !/from|to_ns/.test(title))
				assert(Number(csv[1 + i][column]) === ns[SHARES.indexOf(JSON.parse(title).slice(0, -3))], `${title} of lane ${lane.id}`);
	}
	assert(csv.length === 4, `${csv.length} lines`);
	await end(page);
});

test("a time that is written is selected, and its sums follow: states, lengths of waits, boxes of threads; a filter holds for them", async () => {
	const page = await view({ events: 3000, mean_ns: 2e7 }), { trace } = page, field = page.getByLabel("Select a time"), threads = trace.lanes.filter(lane => lane.kind === "thread");
	const sumsOf = async chosen => {
		const shares = SHARES.map((name, share) => chosen.reduce((sum, lane) => sum + (trace.sharesIn(lane, 3e8, 5e8).get(share) ?? 0), 0)), csv = [...shares].filter(ns => ns > 0).sort((a, b) => b - a);
		const digits = all => all.map(text => text.replace(/\D/g, "")).join();
		await page.waitForFunction(all => [...document.querySelectorAll("#sums .slices li")].map(item => item.dataset.tip.replace(/\D/g, "")).join() === all, digits(csv.map(String)));
	};

	await field.fill("500ms..300ms");
	await field.press("Enter");
	await page.locator("input.time[aria-invalid=true]").waitFor();
	await field.fill("300..500ms");
	await field.press("Enter");
	await address(page, search => search.get("sel") === "300000000~500000000");
	await page.locator("input.time[aria-invalid=false]").waitFor();
	await page.locator("#sums").scrollIntoViewIfNeeded();
	await sumsOf(threads);
	const waits = page.server.waitsOf(new URLSearchParams("from=300000000&to=500000000"));
	await page.locator("#sums").getByText(`${waits.length.toLocaleString("en")}`).first().waitFor();
	const boxes = page.locator("#sums .boxes g[data-tip]"), most = page.server.lengthsOf(waits).boxes[0];
	assert(await boxes.count() === page.server.lengthsOf(waits).boxes.length, `${await boxes.count()} boxes`);
	await boxes.first().click();
	await address(page, search => search.get("focus") === String(trace.laneOf.get(most.thread)));
	await shot(page, "viewer-sums", true);
	assert(!(await faults(page)).length, `${await faults(page)}`);
	await page.getByLabel("Only this thread").fill("worker1");
	await sumsOf(threads.filter(lane => lane.name === "worker1"));
	await end(page);
});

test("a filter of causes makes other states pale, and holds for sums, waits, wake-ups and what is saved; a click on a state is such a filter", async () => {
	const page = await view({ events: 3000, mean_ns: 2e7 }), { trace } = page, id = await threadSeen(page), lock = SHARES.indexOf("lock");

	await hideOverlays(page);
	const states = await stateColours(page), columns = Array.from({ length: 60 }, (_, i) => 100 + 12 * i), before = (await drawn(page, id, columns)).flat();
	const pixelsOf = (all, share) => all.filter(pixel => pixel === states[share]).length;
	assert(pixelsOf(before, lock) && pixelsOf(before, SHARES.indexOf("running")), "the lane has neither locks nor work");
	await page.getByLabel("Only this cause").fill("lock");
	await address(page, search => search.get("cause") === "lock");
	await settled(page);
	const after = (await drawn(page, id, columns)).flat();
	assert(pixelsOf(after, lock) === pixelsOf(before, lock), `${pixelsOf(after, lock)} pixels of locks, not ${pixelsOf(before, lock)}`);
	for (const [share, name] of SHARES.entries())
		assert(share === lock || name === "unknown" || !pixelsOf(after, share), `${name} is not pale`);
	const sums = () => page.$$eval("#sums .slices li", all => all.map(item => [item.children[1].textContent, Number(item.dataset.tip.replace(/\D/g, ""))]));
	await page.waitForFunction(() => document.querySelectorAll("#sums .slices li").length === 2);
	const whole = trace.lanes.filter(lane => lane.kind === "thread").map(lane => trace.sharesIn(lane, 0, trace.whole_ns));
	const locked = whole.reduce((sum, shares) => sum + (shares.get(lock) ?? 0), 0), all = whole.reduce((sum, shares) => sum + [...shares.values()].reduce((a, b) => a + b, 0), 0);
	assert(JSON.stringify((await sums()).sort()) === JSON.stringify([["lock", locked], ["not chosen", all - locked]]), `${await sums()}: ${locked} of ${all}`);
	const csv = await downloaded(page, "CSV");
	assert(/,"?lock_ns"?\r?\n/.test(csv.bytes.toString()) && !csv.bytes.toString().includes("running_ns"), csv.bytes.toString().slice(0, 200));
	await page.locator("#events").getByRole("button", { name: "Waits", exact: true }).click();
	const waits = page.server.waitsOf(new URLSearchParams("cause=lock"));
	await page.locator("#events [role=status]").filter({ hasText: waits.length.toLocaleString("en") }).waitFor();
	await shot(page, "viewer-cause", false);
	await page.locator(".legend button", { hasText: /^running$/ }).click();
	await address(page, search => search.get("cause") === "lock, running");
	await page.locator(".legend button", { hasText: /^running$/ }).click();
	await page.locator(".legend button", { hasText: /^lock$/ }).click();
	await address(page, search => !search.has("cause"));
	assert(!(await faults(page)).length, `${await faults(page)}`);
	await end(page);
});

test("activities, waits, spans and samples are lists like that of events: filtered, and in step with the graph", async () => {
	const page = await view({ events: 3000, mean_ns: 2e7 }), { trace } = page, status = page.locator("#events [role=status]"), query = text => new URLSearchParams(text);
	const shown = () => page.$$eval("#events tbody tr", rows => rows.map(row => [...row.cells].map(cell => cell.textContent)));
	const list = async (title, words) => {
		await page.locator("#events").getByRole("button", { name: title, exact: true }).click();
		await status.filter({ hasText: words }).waitFor();
		await page.waitForFunction(() => [...document.querySelectorAll("#events tbody tr")].every(row => row.cells.length > 1));
	};
	const says = (count, one) => status.filter({ hasText: new RegExp(`^${count.toLocaleString("en")}\\s${one}`) }).waitFor();

	await page.locator("#events").scrollIntoViewIfNeeded();
	await page.locator("#events tbody tr[aria-rowindex='2'] td").first().waitFor();
	await list("Waits", /waits$/);
	const waits = page.server.waitsOf(query(""));
	await says(waits.length, "waits");
	assert((await shown())[3][4] === waits[3].text && (await shown())[3][2] === `${trace.lanes[trace.laneOf.get(waits[3].thread)].name} ${20000 + waits[3].thread}`, `${(await shown())[3]}`);
	await page.getByLabel("Filter by state").fill("lock");
	await page.getByLabel("Filter by length").fill("30ms");
	await page.getByLabel("Filter by thread").fill("worker1");
	const numbers = trace.lanes.filter(lane => lane.kind === "thread" && lane.name === "worker1").map(lane => lane.thread);
	const chosen = waits.filter(one => one.share === "lock" && one.end_ns - one.time_ns >= 3e7 && numbers.includes(one.thread));
	await says(chosen.length, "waits? with this filter");
	await address(page, search => search.get("list") === "waits" && search.get("cause") === "lock" && search.get("longer") === "30ms");
	await page.locator("#events tbody tr").nth(1).click();
	await address(page, search => search.get("at") === String(chosen[1].time_ns) && search.get("slice") === `${trace.laneOf.get(chosen[1].thread)}@${chosen[1].time_ns}`);
	await shot(page, "viewer-waits", false);
	const saved = await downloaded(page, "Save as CSV"), lines = saved.bytes.toString().trim().split("\r\n");
	assert(saved.name === "made.pinch.waits.csv" && lines.length === chosen.length + 1 && chosen.every((one, i) => lines[i + 1].startsWith(`${i + 1},${one.time_ns},${one.end_ns},`)), `${lines.slice(0, 3)}`);
	await page.getByRole("button", { name: "No filter" }).click();
	await says(waits.length, "waits");
	await page.locator("#events").getByRole("button", { name: "length" }).click();
	await page.locator("#events th[aria-sort=descending]").waitFor();
	await address(page, search => search.get("order") === "length");
	const longest = [...waits].sort((a, b) => b.end_ns - b.time_ns - a.end_ns + a.time_ns);
	await page.locator("#events tbody tr").first().filter({ hasText: longest[0].text }).waitFor();
	await page.locator("#events tbody tr").first().click();
	await address(page, search => search.get("at") === String(longest[0].time_ns));
	await page.locator("#events").getByRole("button", { name: "time", exact: true }).click();
	await address(page, search => !search.has("order"));
	await list("Activities", /activities$/);
	await says(trace.activities.length, "activities");
	await page.getByLabel("Filter by parameters").fill("mail");
	await says(trace.activities.filter(one => one.is_message).length, "activities with this filter");
	assert((await shown()).every(cells => cells[3] === "mail"), `${(await shown())[0]}`);
	await page.evaluate(() => scrollTo(0, 0));
	const area = await box(page), row = await lane(page, await threadSeen(page)).boundingBox();
	await page.mouse.click(area.x + area.width / 2, row.y + 8);
	await page.waitForFunction(() => document.querySelector("#events tr[aria-selected=true]"));
	const at_ns = Number((await address(page, search => Number(search.get("at")) > 4e8)).get("at")), index = Number(await page.locator("#events tr[aria-selected=true]").getAttribute("aria-rowindex")) - 2;
	assert(index === trace.activities.filter(one => one.is_message && one.begin_ns < at_ns).length, `row ${index} at ${at_ns}`);
	await shot(page, "viewer-list-activities", false);
	await page.getByRole("button", { name: "No filter" }).click();
	await list("Spans", /^0\sspans/);
	await list("Samples", /samples/);
	assert(page.server.asked.some(path => path.startsWith("/events?") && path.includes("event=sched.SAMPLE")), "samples are not asked for");
	await end(page);
});

for (const [scheme, width] of [["light", 1280], ["dark", 360]])
	test(`axe-core finds no serious fault in colours, notes, boxes and lists, ${width} pixels wide, in the ${scheme}`, async () => {
		const page = await view({ gaps: [{ begin_ns: 4e8, end_ns: 4.2e8 }] }, { scheme, width, height: 900 });

		for (const colour of ["application", "weight"]) {
			await go(page, `view=200000000~230000000&sel=205000000~210000000&box=2.3&colour=${colour}&list=waits`);
			await page.locator("#events").scrollIntoViewIfNeeded();
			await page.locator("#events tbody tr[aria-rowindex='2'] td").first().waitFor();
			await page.evaluate(() => scrollTo(0, 0));
			await page.locator(".graph-canvas").press("m");
			await page.locator(".notes li").first().waitFor();
			await settled(page);
			await shot(page, `viewer-graph-${colour}-${width}-${scheme}`);
			const found = await faults(page), over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			assert(!found.length && over <= 0, `${over} pixels too wide; ${found.join("\n")}`);
		}
		await end(page);
	});

await main();
