// SPDX-License-Identifier: GPL-2.0-or-later
// names.js MILLISECONDS
// Computes in functions of all kinds, each for that long. Where one begins stands "// @" and its name.
"use strict";

const { Worker, isMainThread, workerData } = require("worker_threads");

function burn(ms) { // @burn
	const end = Date.now() + ms;
	let sum = 0;

	while (Date.now() < end)
		for (let i = 0; i < 10000; i++)
			sum = (sum * 31 + i) | 0;
	return sum;
}

function makeCounter() { // @makeCounter
	return function count(ms) { // @count
		const add = // its name is inferred
			(ms) => { // @add
				return burn(ms);
			};

		return add(ms);
	};
}

class Parser {
	constructor(ms) { // @Parser
		this.value = burn(ms);
	}

	parse(ms) { // @parse
		return this.#scan(ms);
	}

	#scan(ms) { // @#scan
		return burn(ms);
	}

	static of(ms) { // @of
		return [1].map(function each() { // @each
			return burn(ms);
		});
	}
}

const größe = {
	名前(ms) { // @名前
		return burn(ms);
	},
};

async function fetchAll(ms) { // @fetchAll
	await null;
	return burn(ms);
}

function* numbers(ms) { // @numbers
	yield burn(ms);
}

function compute(ms) { // @compute
	makeCounter()(ms);
	new Parser(ms).parse(ms);
	Parser.of(ms);
	größe.名前(ms);
	[...numbers(ms)];
	eval("(function evaluated(ms) {\n\n return burn(ms); })")(ms);
}

function inWorker(ms) { // @inWorker
	burn(ms);
}

if (isMainThread) {
	const ms = Number(process.argv[2]);
	const isOver = new Int32Array(new SharedArrayBuffer(4));

	new Worker(__filename, { workerData: { ms, isOver } });
	compute(ms);
	fetchAll(ms).then(() => {
		setTimeout(function onTimer() { // @onTimer
			burn(ms);
			console.log(new Error().stack.includes("onTimer"));
			Atomics.store(isOver, 0, 1);
			Atomics.notify(isOver, 0);
		}, 1);
	});
} else {
	inWorker(workerData.ms);
	// What it has in its heap is there to be read until the others are done.
	Atomics.wait(workerData.isOver, 0, 0);
}
