// SPDX-License-Identifier: GPL-2.0-or-later
// Usage: open.mjs FILE... Opens pages, goes through all of each, and tells as JSON what a user would meet.
import { basename } from "node:path";
import { drawAll, open, sections, shot, start, stop } from "./browser.mjs";

async function look(file) {
	const page = await open(file);
	const found = await sections(page);

	await drawAll(page);
	await page.evaluate(() => scrollTo(0, 0));
	await shot(page, basename(file, ".html"));
	const pages = await page.evaluate(() => ({
		title: document.title,
		text: document.querySelector("main").innerText,
		frames: document.querySelectorAll(".frame").length,
		nodes: document.querySelectorAll(".node").length,
		canvases: document.querySelectorAll("canvas").length,
		markup: document.querySelectorAll("main script, main img, main iframe").length,
	}));
	return { ...pages, sections: found, problems: page.problems };
}

await start();
const pages = [];
for (const file of process.argv.slice(2))
	pages.push(await look(file));
console.log(JSON.stringify(pages));
await stop();
