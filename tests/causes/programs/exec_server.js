// SPDX-License-Identifier: GPL-2.0-or-later
// exec_server.js PORT [cured]
// Planted cause: an HTTP server waits for a command in its event loop, 100 ms for each label. Cured: the command ends at
// once.
// Known answer: printLabel(), which calls execSync(), or the command's sleep.
"use strict";

const { execSync } = require("child_process");
const http = require("http");
const planted = require("./planted.js");

function printLabel() {
	execSync(planted.isCured ? "true" : "sleep 0.1");
}

http.createServer((request, response) => {
	if (request.url === "/label")
		printLabel();
	response.end("ok");
	planted.done();
}).listen(Number(process.argv[2]), "127.0.0.1");
