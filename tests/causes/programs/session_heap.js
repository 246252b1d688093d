// SPDX-License-Identifier: GPL-2.0-or-later
// Planted cause: many objects that live on in a heap that is nearly full: the collector marks all of them again and again.
// Started with --max-old-space-size=120. Cured: there are hardly any that live on.
// Known answer: garbage collection, for what openSessions() allocates.
"use strict";

const planted = require("./planted.js");

const length = planted.isCured ? 1000 : 550000;
const sessions = [];

function openSessions(count) {
	for (let i = 0; i < count; i++) {
		const session = { id: i, user: { name: i, roles: [i] } };
		sessions[Math.floor(Math.random() * length)] = session;
	}
}

for (let i = 0; i < length; i++)
	sessions.push({ id: i, user: { name: i, roles: [i] } });

function turn() {
	openSessions(2000);
	planted.done();
	setImmediate(turn);
}

turn();
