// SPDX-License-Identifier: GPL-2.0-or-later
// web_parse.js PORT MEGABYTES
// An HTTP server: /slow parses a JSON text of that many MB in importOrders(), /fast answers at once.
// Known answer: JSON.parse() is what all others wait for.
"use strict";

const http = require("http");

const [port, megabytes] = process.argv.slice(2).map(Number);
const order = { id: 4711, customer: "a name", lines: [{ article: "an article", count: 3, price: 1.25 }] };
const length = Math.ceil(megabytes * 1e6 / (JSON.stringify(order).length + 1));
const text = JSON.stringify(Array.from({ length }, (_, id) => ({ ...order, id })));

function importOrders() {
	return String(JSON.parse(text).length);
}

http.createServer((request, response) => {
	response.end(request.url === "/slow" ? importOrders() : "1");
}).listen(port, "127.0.0.1");
