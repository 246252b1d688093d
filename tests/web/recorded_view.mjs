// SPDX-License-Identifier: GPL-2.0-or-later
// pinch view itself, with a trace that is recorded here: threads that take turns with a lock.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { directory, note } from "./browser.mjs";
import * as processes from "./view_process.mjs";

export const { PINCH, stop } = processes, TRACE = join(directory, "recorded.pinch");
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
		processes.record(TRACE, [], ["python3", "-c", RECORDED]);
		return true;
	} catch (error) {
		note(`skipped: no trace can be recorded here: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
}

/** A server with the trace, and the link that it prints. */
export async function serve() {
	const { child, link } = await processes.serve([TRACE]);

	return { child, url: link };
}
