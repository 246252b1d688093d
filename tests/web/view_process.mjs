// SPDX-License-Identifier: GPL-2.0-or-later
// Processes of pinch that tests start: recordings, and servers of pinch view with the link that they print. None outlives the test.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { assert, BUILD, directory } from "./browser.mjs";

export const PINCH = join(BUILD, "pinch");
const LIMIT_MS = 1000 * (process.env.LIMIT_S ?? 60), running = new Set();

process.on("exit", () => running.forEach(child => child.kill("SIGKILL")));

/** Records a command into a file of the test's directory. */
export function record(file, options, command) {
	execFileSync(PINCH, ["record", "-q", "-o", file, ...options, "--", ...command], { cwd: directory, stdio: ["ignore", "ignore", "pipe"] });
}

function linkOf(child) {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error(`there is no link: ${child.said}`)), LIMIT_MS);
		child.once("exit", () => reject(new Error(`pinch view has ended: ${child.said}`)));
		child.stderr.on("data", bytes => {
			child.said += bytes;
			const found = child.said.match(/http:\S*token=[0-9a-f]+/);
			if (found) {
				clearTimeout(timer);
				resolve(found[0]);
			}
		});
	});
}

/** pinch view with these words, in the test's directory: its process, with ended, its status or signal; and its link. */
export async function serve(words) {
	const child = spawn(PINCH, ["view", "--port", "0", ...words], { cwd: directory, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });

	child.said = "";
	child.ended = new Promise(resolve => child.once("exit", (status, signal) => resolve(status ?? signal)));
	running.add(child);
	child.once("exit", () => running.delete(child));
	return { child, link: await linkOf(child) };
}

/** As Ctrl-C ends it. */
export async function stop(child) {
	child.kill("SIGINT");
	const status = await child.ended;

	assert(status === 0, `pinch view has ended with ${status}: ${child.said}`);
}
