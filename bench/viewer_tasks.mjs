// SPDX-License-Identifier: GPL-2.0-or-later
// Ten questions to a trace, answered in the page of pinch view as a person would: which clicks and keys that takes, how many seconds the
// page needs, and whether the answer is that of `pinch export --format csv`. Usage: node bench/viewer_tasks.mjs [TRACE]; without one, the
// bundled example is recorded. Environment: O, the build directory.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { BUILD, directory, open, start, stop } from "../tests/web/browser.mjs";

const PINCH = join(BUILD, "pinch"), [FROM_S, TO_S] = [1.2, 1.4];

function recorded() {
	const path = join(directory, "tasks.pinch");

	execFileSync(PINCH, ["record", "-q", "-o", path, "--", join(BUILD, "examples/pipeline")], { stdio: "ignore" });
	return path;
}

/** Lines of CSV of which fields may be quoted. */
function rowsOf(text) {
	const [titles, ...lines] = text.trim().split(/\r?\n/).map(line => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replace(/""/g, "\"") ?? plain));

	return lines.map(fields => Object.fromEntries(titles.map((title, i) => [title, fields[i]])));
}

/** The first line of the report of a part. */
function verdictOf(trace, selected) {
	const part = join(directory, "part.pinch"), [from, to] = selected.split("..");

	execFileSync(PINCH, ["cut", "-o", part, "--from", from, "--to", to, trace], { stdio: "ignore" });
	return JSON.parse(execFileSync(PINCH, ["report", "-q", "--json", "-", part], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] })).verdict.lines[0];
}

/** What happened, by the trace itself. */
class Truth {
	constructor(trace) {
		const rows = rowsOf(execFileSync(PINCH, ["export", "--format", "csv", "-o", "-", trace], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] }).toString());

		this.states = rows.filter(row => row.kind === "state").map(row => ({ ...row, begin: Number(row.begin_ns), end: Number(row.end_ns), tid: Number(row.tid) }));
		this.wakes = rows.filter(row => row.kind === "wake-up").map(row => ({ ...row, at: Number(row.begin_ns), tid: Number(row.tid) }));
	}

	/** ns of a part in [from, to). */
	static within({ begin, end }, from, to) {
		return Math.max(0, Math.min(end, to) - Math.max(begin, from));
	}

	longest(name, from = 0, to = Infinity) {
		return this.states.filter(state => state.name === name && state.begin >= from && state.begin < to).reduce((most, state) => state.end - state.begin > most.end - most.begin ? state : most);
	}

	sum(choose, from = 0, to = Infinity) {
		return this.states.filter(choose).reduce((sum, state) => sum + Truth.within(state, from, to), 0);
	}
}

/** A person at the page: what is done is counted. */
class Person {
	constructor(page) {
		this.page = page;
		this.clicks = this.keys = 0;
	}

	async click(locator) {
		this.clicks++;
		await locator.click();
	}

	async type(locator, text, enter = false) {
		await this.click(locator);
		await locator.fill(text);
		this.keys += text.length + (enter ? 1 : 0);
		if (enter)
			await locator.press("Enter");
	}

	async press(key) {
		this.keys++;
		await this.page.keyboard.press(key);
	}

	list(title) {
		return this.click(this.page.locator("#events").getByRole("button", { name: title, exact: true }));
	}

	/** The first row of the list, once it is that of what is asked for. */
	async firstRow() {
		const { page } = this;

		await page.waitForFunction(() => {
			const status = document.querySelector("#events [role=status]")?.textContent ?? "", row = document.querySelector("#events tbody tr");
			return /^[\d\u202f,.\s]+(waits?|events?|samples?)/.test(status) && row?.cells.length > 1;
		});
		await page.waitForTimeout(300);		// until the list of the last filter is gone
		return page.locator("#events tbody tr").first();
	}

	select(text) {
		return this.type(this.page.getByLabel("Select a time"), text, true);
	}
}

const digits = text => Number(text.replace(/\D/g, ""));
const tidOf = text => Number(/(\d+)\)?\s*$/.exec(text.trim())[1]);
const SELECTED = `${FROM_S}s..${TO_S}s`, [FROM, TO] = [FROM_S * 1e9, TO_S * 1e9];

/** Each returns the answer of the page and that of the trace. */
const tasks = [
	["Which thread waited longest for a lock between 1.2 s and 1.4 s?", async (person, { page, truth }) => {
		await person.select(SELECTED);
		await person.list("Waits");
		await person.click(page.getByRole("button", { name: "In the selected time" }));
		await person.type(page.getByLabel("Filter by state"), "lock");
		await person.click(page.locator("#events").getByRole("button", { name: "length" }));
		const row = await person.firstRow();
		return [tidOf(await row.locator("td").nth(2).innerText()), truth.longest("lock", FROM, TO).tid];
	}],
	["For which lock, and who held it up to the end?", async (person, { page, truth }) => {
		await person.click(await person.firstRow());
		await page.locator(".details h4", { hasText: "Ended by" }).waitFor();
		const longest = truth.longest("lock", FROM, TO), wake = truth.wakes.find(one => one.other === longest.thread_name && one.at === longest.end);
		return [`${(await page.locator(".details").innerText()).match(/lock (\S+)/)?.[1]} ${await page.locator(".details h4:has-text('Ended by') + p").innerText()}`,
			`${longest.object} ${wake.thread_name}`].map(text => text.replace(/\(tid \d+\)|\btid\b/g, "").replace(/\s+/g, " ").trim());
	}],
	["What did the holder do meanwhile?", async (person, { page }) => {
		const parts = page.locator(".details h4:has-text('In sum') ~ *");
		await parts.first().waitFor();
		return [/running/.test(await page.locator(".details").innerText()), true];
	}],
	["How many waits are like this one, and what would the run gain if they were half as long?", async (person, { page, truth }) => {
		await page.locator(".details", { hasText: "All waits like this" }).getByText(/waits? for/).waitFor();
		await person.click(page.getByRole("button", { name: "Predict" }));
		await page.locator(".details").getByText(/would|saves|faster|gain|%/).last().waitFor();
		const longest = truth.longest("lock", FROM, TO);
		const count = truth.states.filter(one => one.name === "lock" && one.object === longest.object && one.begin >= FROM && one.begin < TO).length;
		return [digits((await page.locator(".details p", { hasText: /waits? for/ }).innerText()).split(/\swaits? /)[0]), count];
	}],
	["Which share of that time did all threads wait for a CPU?", async (person, { page, truth }) => {
		const item = page.locator("#sums .slices li", { hasText: "waiting for a CPU" });
		await person.click(page.getByRole("button", { name: "No filter" }));
		await item.waitFor();
		return [digits(await item.getAttribute("data-tip")), truth.sum(state => state.name === "runnable", FROM, TO)];
	}],
	["How long did worker-1 run in that time?", async (person, { page, truth }) => {
		await person.type(page.getByLabel("Only this thread"), "worker-1");
		const expected = truth.sum(state => state.name === "running" && state.thread_name === "worker-1", FROM, TO);
		const item = page.locator("#sums .slices li", { hasText: "running" });
		await page.waitForFunction(() => /\b1\sthread\b/.test(document.querySelector("#sums .about").textContent));
		await page.waitForFunction(ns => [...document.querySelectorAll("#sums .slices li")].some(li => li.dataset.tip.replace(/\D/g, "") === ns), String(expected), { timeout: 5000 }).catch(() => {});
		return [digits(await item.getAttribute("data-tip")), expected];
	}],
	["What is the median of worker-1's waits for locks in that time?", async (person, { page, truth }) => {
		await person.type(page.getByLabel("Only this cause"), "lock");
		const own = truth.states.filter(one => one.name === "lock" && one.thread_name === "worker-1" && one.begin >= FROM && one.begin < TO).map(one => one.end - one.begin).sort((a, b) => a - b);
		const median = own[Math.ceil(own.length / 2) - 1], words = page.locator("#sums .boxes g[data-tip]");
		await page.waitForFunction(count => document.querySelector("#sums .boxes g[data-tip]")?.dataset.tip.replace(/[\s,\u202f]/g, "").includes(`:${count}wait`), own.length, { timeout: 5000 }).catch(() => {});
		const said = /p50 ([\d.]+)\s(\S+)/.exec(await words.first().getAttribute("data-tip")), unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[said[2]];
		return [said[1], (median / unit).toPrecision(3).replace(/^(\d+\.\d{2}).*/, "$1")].map(Number).map(value => Math.round(value * 100) / 100);
	}],
	["Which thread that could run waited longest for a CPU in the whole trace, and when?", async (person, { page, truth }) => {
		await person.click(page.getByRole("button", { name: "No filter" }));
		await person.click(page.getByRole("button", { name: "In the selected time" }));
		await person.type(page.getByLabel("Filter by state"), "waiting for a CPU");
		const row = await person.firstRow(), longest = truth.longest("runnable");
		return [`${tidOf(await row.locator("td").nth(2).innerText())} ${digits(await row.locator("td").first().innerText()) > 0}`, `${longest.tid} true`];
	}],
	["Who had its CPU meanwhile?", async (person, { page, truth }) => {
		await person.click(await person.firstRow());
		await page.locator(".details .users li").first().waitFor();
		const wait = truth.longest("runnable"), next = truth.states.find(one => one.tid === wait.tid && one.begin === wait.end), onIt = {};
		for (const one of truth.states.filter(one => one.name === "running" && one.cpu === next.cpu))
			onIt[one.tid] = (onIt[one.tid] ?? 0) + Truth.within(one, wait.begin, wait.end);
		const told = await page.locator(".details .users li").evaluateAll(all => all.map(item => [Number(/tid (\d+)/.exec(item.textContent)?.[1] ?? 0), Number(item.querySelector(".number").dataset.tip.replace(/\D/g, ""))]));
		const traced = told.filter(([tid]) => onIt[tid]), whole = told.reduce((sum, [, ns]) => sum + ns, 0);
		return [`${traced.every(([tid, ns]) => onIt[tid] === ns)} ${whole}`, `true ${wait.end - wait.begin}`];
	}],
	["What is the main cause of lost time of that part, in one line?", async (person, { page }) => {
		await person.click(page.getByRole("button", { name: "No filter" }));
		const button = page.getByRole("button", { name: "Report of the selection" });
		await page.locator("#report").scrollIntoViewIfNeeded();
		await page.locator("#verdict").waitFor();
		if (await button.isEnabled())		// it is made when the page comes to it
			await person.click(button);
		await page.waitForFunction(() => /Of all threads, 1\.2/.test(document.querySelector("#report .about").textContent));
		await page.locator("#verdict").waitFor();
		const one = text => text.replace(/[\s\u202f]+/g, " ").slice(0, 100);
		return [one(await page.locator("#verdict strong, #verdict p").first().innerText()), one(verdictOf(trace, SELECTED))];
	}],
];

const trace = process.argv[2] ?? recorded(), truth = new Truth(trace);
const server = spawn(PINCH, ["view", trace], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, DISPLAY: "", BROWSER: "" } });
let said = "";

server.stdout.on("data", bytes => { said += bytes; });
server.stderr.on("data", bytes => { said += bytes; });
while (!/token=[0-9a-f]+/.test(said))
	await new Promise(resolve => setTimeout(resolve, 20));
await start();
const page = await open(said.match(/http:\S*token=[0-9a-f]+/)[0], { width: 1600, height: 1000 });
let right = 0, clicks = 0, keys = 0, seconds = 0;

for (const [question, answer] of tasks) {
	const person = new Person(page), begin = performance.now();
	const [told, expected] = await answer(person, { page, truth }).catch(error => [String(error).split("\n")[0], "an answer"]);
	const took_s = (performance.now() - begin) / 1000, isRight = String(told) === String(expected);

	right += isRight;
	clicks += person.clicks;
	keys += person.keys;
	seconds += took_s;
	console.log(`${isRight ? "right" : "WRONG"}  ${String(person.clicks).padStart(2)} clicks ${String(person.keys).padStart(3)} keys ${took_s.toFixed(1).padStart(5)} s  ${question} ${told}${isRight ? "" : ` (not ${expected})`}`);
}
console.log(`${right} of ${tasks.length} right: ${clicks} clicks, ${keys} keys, ${seconds.toFixed(1)} s of the page`);
await stop();
server.kill("SIGINT");
