// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view itself, with a trace that is recorded here: threads that take turns with a lock.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BUILD, directory, note } from "./browser.mjs";

export const PINCH = join(BUILD, "pinch"), TRACE = join(directory, "recorded.pinch");
const RECORDED = `
import threading, time
lock = threading.Lock()
def work():
    for _ in range(40):
        with lock:
            time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
`;

/** Whether a trace can be recorded here: where it cannot, that is said. */
export function record() {
	if (process.getuid() !== 0 || !existsSync(PINCH)) {
		note("skipped: recording needs root and a built pinch");
		return false;
	}
	if (existsSync(TRACE))
		return true;
	try {
		execFileSync(PINCH, ["record", "-o", TRACE, "--", "python3", "-c", RECORDED], { stdio: "pipe" });
		return true;
	} catch (error) {
		note(`skipped: no trace can be recorded here: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

const running = new Set();	// a test that fails leaves its server behind

process.on("exit", () => running.forEach(child => child.kill("SIGINT")));

/** A server with the trace, and the link that it prints. */
export async function serve() {
	const child = spawn(PINCH, ["view", "--port", "0", TRACE], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BROWSER: "", DISPLAY: "" } });
	const url = await new Promise((resolve, reject) => {
		let said = "";
		const take = bytes => {
			said += bytes;
			const match = /http:\S*token=[0-9a-f]+/.exec(said);
			if (match)
				resolve(match[0]);
		};
		child.stdout.on("data", take);
		child.stderr.on("data", take);
		child.once("exit", () => reject(new Error(`pinch view ended: ${said}`)));
	});

	running.add(child);
	child.once("exit", () => running.delete(child));
	child.unref();
	child.stdout.unref();
	child.stderr.unref();
	return { child, url };
}

export async function stop(child) {
	const ended = new Promise(resolve => child.on("exit", resolve));

	child.kill("SIGINT");
	await ended;
}
