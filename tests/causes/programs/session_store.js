// SPDX-License-Identifier: GPL-2.0-or-later
// session_store.js PORT [cured]
// Planted cause: an HTTP server saves the session at each request by calls that block its one thread until
// sessions.json is on the disk. Cured: it does not wait for the disk.
// Known answer: fsync of sessions.json, in saveSession().
"use strict";

const fs = require("fs");
const http = require("http");
const planted = require("./planted.js");

const file = fs.openSync("sessions.json", "w");
const session = Buffer.alloc(4000, "s");

function saveSession() {
	fs.writeSync(file, session, 0, session.length, 0);
	if (!planted.isCured)
		fs.fsyncSync(file);
}

http.createServer((request, response) => {
	saveSession();
	response.end("ok");
	planted.done();
}).listen(Number(process.argv[2]), "127.0.0.1");
