// SPDX-License-Identifier: GPL-2.0-or-later
// export_gzip.js PORT [cured]
// Planted cause: an HTTP server that compresses 3 MB at /export by a call that blocks, while other requests wait.
// Cured: 3 KB.
// Known answer: deflate in exportOrders().
"use strict";

const http = require("http");
const planted = require("./planted.js");
const zlib = require("zlib");

const line = (number) => `order ${number}: ${(number * 7919) % 10007} pieces\n`;
const text = Buffer.from(Array.from({ length: planted.isCured ? 100 : 100000 }, (_, number) => line(number)).join(""));

function exportOrders() {
	return zlib.gzipSync(text, { level: 9 });
}

http.createServer((request, response) => {
	response.end(request.url === "/export" ? exportOrders() : "ok");
	planted.done();
}).listen(Number(process.argv[2]), "127.0.0.1");
