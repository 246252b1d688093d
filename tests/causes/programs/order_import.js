// SPDX-License-Identifier: GPL-2.0-or-later
// order_import.js PORT [cured]
// Planted cause: an HTTP server that parses a JSON text of 8 MB at /import, while other requests wait. Cured: of 8 KB.
// Known answer: JSON.parse() in importOrders().
"use strict";

const http = require("http");
const planted = require("./planted.js");

const order = { id: 4711, customer: "a name", lines: [{ article: "an article", count: 3, price: 1.25 }] };
const length = Math.ceil((planted.isCured ? 8e3 : 8e6) / (JSON.stringify(order).length + 1));
const text = JSON.stringify(Array.from({ length }, (_, id) => ({ ...order, id })));

function importOrders() {
	return String(JSON.parse(text).length);
}

http.createServer((request, response) => {
	response.end(request.url === "/import" ? importOrders() : "ok");
	planted.done();
}).listen(Number(process.argv[2]), "127.0.0.1");
