// SPDX-License-Identifier: GPL-2.0-or-later
// Sixteen clients, each of whom has password after password hashed. The event loop has nothing else
// to do; the hashing is done by libuv's pool, which has four threads unless UV_THREADPOOL_SIZE says
// otherwise.
"use strict";
const { pbkdf2 } = require("crypto");

const clients = 16, hashesEach = 12, rounds = 100000;

function hashAgain(client, count) {
	if (count === 0)
		return;
	pbkdf2("secret " + client, "salt", rounds, 32, "sha256", function hashed() {
		hashAgain(client, count - 1);
	});
}

for (let client = 0; client < clients; client++)
	hashAgain(client, hashesEach);
