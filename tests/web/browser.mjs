// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of the page share: TAP, a browser, pages made of JSON. Nothing waits for a time to pass:
// only for what is to be seen. Environment: O, the build directory.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const BUILD = resolve(ROOT, process.env.O ?? "build");
export const SHOTS = join(BUILD, "web-shots");

/** Browsers as Debian has them: Firefox by WebDriver BiDi. Each has a HOME of its own. */
const BROWSERS = {
	chromium: { path: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"], permissions: ["clipboard-read", "clipboard-write"] },
	firefox: { path: "/usr/bin/firefox-esr", channel: "moz-firefox", permissions: [] },
};
/** The hash of a style that taking a screenshot puts into pages of Firefox, whose policy forbids it. */
const OF_SCREENSHOTS = createHash("sha256").update("body {}").digest("base64");
const LIMIT_MS = 1000 * (process.env.LIMIT_S ?? 60);	// a limit, never an expectation

const require = createRequire(join(BUILD, "web/package.json"));
const tests = [];

export function test(sentence, check) {
	tests.push({ sentence, check });
}

export function assert(holds, why) {
	if (!holds)
		throw new Error(why);
}

export const directory = mkdtempSync(join(tmpdir(), "pinch-web-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

export function golden(name) {
	return JSON.parse(readFileSync(join(ROOT, "tests/golden/view", name), "utf8"));
}

/** A file with these parts; returns where it is. */
export function makePage(name, parts) {
	const out = join(directory, `${name}.html`);
	const files = Object.entries(parts).map(([part, value]) => {
		const file = join(directory, `${name}-${part}.json`);
		writeFileSync(file, JSON.stringify(value));
		return `${part}=${file}`;
	});

	execFileSync(join(BUILD, "tests/html_make"), [out, ...files]);
	return out;
}

let browser, permissions;

/** In the page: notes when something is there for the first time, at the frame in which it can be seen. */
function markShown(selector) {
	const look = () => document.querySelector(selector) ? performance.mark("shown") : requestAnimationFrame(look);

	requestAnimationFrame(look);
}

/** Opens a file and waits until it can be used; page.problems has what the console said, and attempts to reach a network.
    shown: a selector; when it is there first is marked. A page of a server may ask that server. */
export async function open(file, { width = 1280, height = 900, scheme = "light", shown, touch = false, isReady = true } = {}) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, hasTouch: touch,
		permissions });
	const address = /^http:/.test(file) ? new URL(file) : pathToFileURL(file);
	const page = await context.newPage();

	page.setDefaultTimeout(LIMIT_MS);
	page.problems = [];
	page.on("console", message => {
		if (["error", "warning"].includes(message.type()))
			page.problems.push(message.text());
	});
	page.on("pageerror", error => {
		if (!String(error).includes(OF_SCREENSHOTS))
			page.problems.push(String(error));
	});
	page.on("request", request => {
		if (!/^(file|data|blob):/.test(request.url()) && new URL(request.url()).origin !== address.origin)
			page.problems.push(`asks for ${request.url()}`);
	});
	if (shown)
		await page.addInitScript(markShown, shown);
	await page.goto(address.href);
	if (shown)
		await page.waitForFunction(() => performance.getEntriesByName("shown").length > 0);
	if (isReady)
		await page.waitForFunction(() => performance.getEntriesByName("pinch-ready").length > 0);
	return page;
}

export async function close(page) {
	assert(!page.problems.length, `the console says: ${page.problems.join("; ")}`);
	await page.context().close();
}

/** Brings a section into view and waits until it is drawn. */
export async function section(page, id) {
	const found = page.locator(`#${id}`);

	await found.waitFor();
	await page.waitForFunction(name => {
		const element = document.getElementById(name);
		element.scrollIntoView();
		return !element.querySelector(".waiting");
	}, id);
	return found;
}

export async function sections(page) {
	return page.$$eval("main section[id]", all => all.map(element => element.id));
}

/** Goes through the page until all that is drawn when it is near is there: also what the way to a section went past. */
export async function drawAll(page) {
	for (const id of await sections(page))
		await section(page, id);
	await page.waitForFunction(() => {
		const missing = [...document.querySelectorAll("canvas")].find(canvas =>
			!canvas.closest("[data-drawn]") && !canvas.hasAttribute("data-drawn"));

		missing?.scrollIntoView();
		return !missing;
	});
}

export async function shot(page, name, full = true) {
	mkdirSync(SHOTS, { recursive: true });
	await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: full, caret: "initial" });	// hiding it takes a style, too
}

/** How many different colours a canvas has, in a grid of points. */
export function colours(locator) {
	return locator.evaluate(canvas => {
		const context = canvas.getContext("2d"), seen = new Set();
		const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 4 * 37)
			seen.add(`${data[i]},${data[i + 1]},${data[i + 2]},${data[i + 3]}`);
		return seen.size;
	});
}

/** Until a canvas has a colour of the style sheet, or no pixel of it. */
export function waitForColour(page, selector, name, isThere) {
	return page.waitForFunction(([css, property, wanted]) => {
		const canvas = document.querySelector(css);
		const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${property}`).trim().slice(1);
		const [r, g, b] = [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
		if (!canvas?.width)
			return false;
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		let found = false;
		for (let i = 0; i < data.length && !found; i += 4)
			found = data[i] === r && data[i + 1] === g && data[i + 2] === b;
		return found === wanted;
	}, [selector, name, isThere]);
}

/** What a button copies, as lines of CSV. */
export async function copied(page, of) {
	const button = page.getByRole("button", { name: `Copy ${of} as CSV`, exact: true });

	await page.evaluate(() => navigator.clipboard.writeText(""));
	await button.click();
	await page.locator(".copy", { has: button }).locator("[role=status]", { hasText: "copied" }).waitFor();
	return (await page.evaluate(() => navigator.clipboard.readText())).split(/\r?\n/);
}

/** Figures whose tooltip, or that of what they are part of, has no unit; in a picture they may have it themselves. */
export function bareFigures(page) {
	return page.$$eval("main .figures div, main .slices li, main .plain div, main td.number, main svg text", elements => elements.filter(element => {
		const tip = element.closest("[data-tip]")?.getAttribute("data-tip") ?? "", is_drawn = element.matches("text");
		return /\d/.test(element.textContent) && !/[a-z%]/i.test(is_drawn ? tip + element.textContent : tip);
	}).map(element => element.outerHTML.slice(0, 160)));
}

/** What axe-core finds that is serious or critical. */
export async function faults(page) {
	await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
	return page.evaluate(async () => (await axe.run()).violations.filter(v => ["serious", "critical"].includes(v.impact))
		.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")}`));
}

export function readyMs(page) {
	return page.evaluate(() => performance.getEntriesByName("pinch-ready")[0].startTime);
}

export function note(words) {
	console.log(`# ${words}`);
}

/** preferences: of Firefox, which can be dark in no other way. */
export async function start(name = "chromium", preferences = {}) {
	const { path, permissions: granted, ...how } = BROWSERS[name], home = mkdtempSync(join(directory, "home-"));

	permissions = granted;
	browser = await require("playwright-core")[name].launch({ executablePath: path, firefoxUserPrefs: preferences, env: { ...process.env, HOME: home, DISPLAY: "" }, ...how });
}

export async function stop() {
	await browser.close();
}

export async function main(name = "chromium") {
	if (!existsSync(BROWSERS[name].path)) {
		console.log(`1..0 # SKIP ${BROWSERS[name].path} is not installed`);
		return;
	}
	const only = new RegExp(process.env.ONLY ?? "");
	const chosen = tests.filter(({ sentence }) => only.test(sentence));
	let failed = 0;

	console.log(`1..${chosen.length}`);
	await start(name);
	for (const [i, { sentence, check }] of chosen.entries()) {
		try {
			await check();
			console.log(`ok ${i + 1} - ${sentence}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${i + 1} - ${sentence}`);
			console.log(String(error.stack ?? error).replace(/^/gm, "# "));
		}
	}
	await stop();
	process.exitCode = failed ? 1 : 0;
}
