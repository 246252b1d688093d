// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view of a ring that goes on until what was shown first is overwritten: the page says so, and selection, notes and link stay valid.
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, BUILD, close, directory, faults, main, note, open, shot, test } from "./browser.mjs";

const PINCH = join(BUILD, "pinch"), LIMIT_MS = 120000;

/** Two processes wake each other until there is a file "stop". */
const PROGRAM = `
import os
there, back = os.pipe(), os.pipe()
if os.fork():
    os.close(there[0]), os.close(back[1])
    while not os.path.exists("stop"):
        for _ in range(500):
            os.write(there[1], b"x"), os.read(back[0], 1)
else:
    os.close(there[1]), os.close(back[0])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
`;

const started = [];

/** Whether this machine can trace. */
function canTrace() {
	try {
		execFileSync(PINCH, ["record", "-q", "-o", join(directory, "can.pinch"), "--", "true"], { stdio: "pipe" });
		return true;
	} catch (error) {
		note(`skipped: recording needs root and a built pinch: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

/** A viewer of the program, and its link. */
async function view(path) {
	const child = spawn(PINCH, ["view", "--ring", "1M", "--", "/usr/bin/python3", "program.py"], { cwd: path, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });

	started.push(child);
	let said = "";
	for await (const bytes of child.stderr.iterator({ destroyOnReturn: false })) {
		said += bytes;
		const link = /http:\S*token=[0-9a-f]+/.exec(said);
		if (link)
			return { child, link: link[0] };
	}
	throw new Error(`there is no link: ${said}`);
}

/** From what time on there is anything, in s, by the page; null: from the begin. */
const keptFrom = page => page.evaluate(() => {
	const said = /overwritten what was before ([\d.]+)\s*(ms|s|min)/.exec(document.querySelector(".live")?.textContent ?? "");
	return said && Number(said[1]) * { ms: 1e-3, s: 1, min: 60 }[said[2]];
});

/** Until that is later. */
async function overwritten(page, before_s) {
	const limit = Date.now() + LIMIT_MS;

	for (;;) {
		const from_s = await keptFrom(page);
		if (from_s !== null && from_s > before_s)
			return from_s;
		assert(Date.now() < limit, `nothing is overwritten: ${await page.locator(".live").textContent()}`);
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)));
	}
}

const said = (page, name) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);

test("a ring overwrites what was seen first: the page says so, and what is selected, noted and linked keeps its time", async () => {
	if (!canTrace())
		return;
	const path = mkdtempSync(join(directory, "ring-"));
	writeFileSync(join(path, "program.py"), PROGRAM);
	const { child, link } = await view(path), page = await open(link), bar = page.locator(".live");

	await bar.getByText("Recording").waitFor();
	await bar.getByText(/of 1\.0.MB on disk/).waitFor();
	const first_s = await overwritten(page, -1);
	await bar.getByRole("button", { name: "Follow", exact: true }).click();		// stays
	await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("view"));
	const box = await page.locator(".graph-canvas canvas").boundingBox();
	await page.keyboard.down("Shift");
	await page.mouse.move(box.x + box.width * 0.5, box.y + 150);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.8, box.y + 150, { steps: 5 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await page.locator(".graph-canvas").press("m");
	await page.waitForFunction(() => document.activeElement.matches(".notes input"));
	await page.keyboard.type("seen");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash.includes("note="));
	const before = ["view", "sel", "note"].map(name => said(page, name));
	const second_s = await overwritten(page, first_s);
	assert(JSON.stringify(["view", "sel", "note"].map(name => said(page, name))) === JSON.stringify(before), `the link was ${before}, and is ${page.url()}`);
	await shot(page, "live-ring");
	assert(!(await faults(page)).length, `axe: ${await faults(page)}`);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	assert(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, "it is wider than the window");
	await page.setViewportSize({ width: 1280, height: 900 });
	writeFileSync(join(path, "stop"), "");
	await bar.getByText("The command has ended with exit status 0.").waitFor();
	await page.waitForFunction(() => !document.querySelector(".live button"));
	assert(await keptFrom(page) >= second_s, `it says ${await bar.textContent()}`);
	assert(JSON.stringify(["view", "sel", "note"].map(name => said(page, name))) === JSON.stringify(before), `the link was ${before}, and is ${page.url()}`);
	await shot(page, "live-ring-ended");
	page.problems = page.problems.filter(problem => !problem.startsWith("Canvas2D: Multiple readback"));
	await close(page);
	child.kill("SIGINT");
	const status = await new Promise(resolve => child.exitCode === null ? child.on("exit", resolve) : resolve(child.exitCode));
	assert(status === 0, `exit status ${status}`);
});

await main();
for (const child of started)		// of a test that failed
	if (child.exitCode === null)
		child.kill("SIGKILL");
