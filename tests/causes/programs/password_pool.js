// SPDX-License-Identifier: GPL-2.0-or-later
// password_pool.js PORT [cured]
// Planted cause: an HTTP server reads a file for each page, which takes a thread of libuv's pool; /login hashes a
// password in the same pool for long: reads wait for a thread. Cured: a hash takes one round.
// Known answer: pbkdf2 in the pool's threads.
"use strict";

const crypto = require("crypto");
const fs = require("fs");
const http = require("http");
const planted = require("./planted.js");

const rounds = planted.isCured ? 1 : 40000;

function checkPassword(response) {
	crypto.pbkdf2("secret", "salt", rounds, 64, "sha512", () => response.end("ok"));
}

function sendPage(response) {
	fs.readFile(__filename, (error, page) => {
		response.end(page);
		planted.done();
	});
}

http.createServer((request, response) => {
	if (request.url === "/login")
		checkPassword(response);
	else
		sendPage(response);
}).listen(Number(process.argv[2]), "127.0.0.1");
