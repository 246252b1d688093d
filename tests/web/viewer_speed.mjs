// SPDX-License-Identifier: GPL-2.0-or-later
// The graph of pinch view draws what has changed alone: it must look as if all had been drawn.
import { assert, main, test } from "./browser.mjs";
import { canvas, end, go, settled, view } from "./view_page.mjs";

const RANGE = "view=300000000~304000000&hide=wakes.marks.activities.messages";

function picture(page) {
	return canvas(page).evaluate(element => element.toDataURL());
}

/** Answers one request for tiles after the other; each is drawn before the next one. */
async function releaseOneByOne(page) {
	const { server } = page;
	let released = 0;

	while (server.held.length || await canvas(page).getAttribute("data-waiting") !== "0") {
		const write = server.held.shift();
		if (write) {
			write();
			released++;
		}
		await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	}
	server.held = null;
	return released;
}

async function sameAsAtOnce(fragment) {
	const page = await view(), whole = await view();

	page.server.held = [];
	await page.evaluate(hash => {
		history.replaceState(history.state, "", "#" + hash);
		dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
	}, fragment);
	const released = await releaseOneByOne(page);
	await settled(page);
	await go(whole, fragment);
	assert(released > 1, `tiles came at once: ${released}`);
	assert(await picture(page) === await picture(whole), `${fragment}: what came bit by bit looks different`);
	await end(whole);
	await end(page);
}

test("lanes whose tiles come one after the other look as if they had come at once", () => sameAsAtOnce(RANGE));

test("so do pinned lanes, which lie over others", async () => {
	const page = await view(), threads = page.trace.lanes.filter(lane => lane.kind === "thread").map(lane => lane.id);

	await end(page);
	await sameAsAtOnce(`${RANGE}&pin=${threads.slice(0, 3).join(".")}&top=200`);
});

test("so do lanes of which filters choose parts, and colours of how many share a moment", async () => {
	await sameAsAtOnce(`${RANGE}&cpu=1`);
	await sameAsAtOnce(`${RANGE}&colour=weight`);
});

test("what is scrolled away and back looks as before", async () => {
	const page = await view();

	await go(page, RANGE);
	const before = await picture(page);
	await go(page, `${RANGE}&top=150`);
	assert(await picture(page) !== before, "nothing was scrolled");
	await go(page, RANGE);
	assert(await picture(page) === before, "the lanes are not what they were");
	await end(page);
});

await main();
