// SPDX-License-Identifier: GPL-2.0-or-later
// What the planted programs for Node.js share: as planted.h says.
"use strict";

const PERIOD_MS = 100;
let printed = 0, count = 0;

exports.isCured = process.argv.at(-1) === "cured";

// A unit of work is done.
exports.done = () => {
	count++;
	if (performance.now() >= printed + PERIOD_MS) {
		process.stdout.write(`${count}\n`);
		printed = performance.now();
	}
};
