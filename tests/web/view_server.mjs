// SPDX-License-Identifier: GPL-2.0-or-later
// A server as pinch view is one, of a trace that was made up, on a port of the loopback that nobody else has.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { makePage } from "./browser.mjs";
import { wholeReport } from "./data.mjs";
import { FIRST_NS, SHARES } from "./made_trace.mjs";

const FILTERED_ROWS_MAX = 200000;

function lanesOf(text) {
	return (text ?? "").split(",").filter(Boolean).flatMap(part => {
		const [first, last = first] = part.split("-").map(Number);
		return Array.from({ length: last - first + 1 }, (_, i) => first + i);
	});
}

function frame(name, file, line) {
	return { function: name, file, line, module: "server", offset: 0, is_inlined: false, is_kernel: false, is_guessed: false, is_tail_call: false };
}

export class ViewServer {
	constructor(trace) {
		this.trace = trace;
		this.asked = [];			// paths
		this.done = null;			// of the index, while it is made
		this.isRefusing = false;
		this.counted = Infinity;		// rows; each request for some finds more
		this.held = null;			// answers that wait: null, or a list
		this.page = readFileSync(makePage(`viewer-${trace.name}`, { viewer: { name: trace.name, pinch: "test" } }));
		this.report = readFileSync(makePage(`report-${trace.name}`, wholeReport()));
	}

	async start(port = 0) {
		this.server = createServer((request, response) => this.answer(request, response));
		this.server.unref();			// a test that fails leaves it behind
		await new Promise(resolve => this.server.listen(port, "127.0.0.1", resolve));
		this.port = this.server.address().port;
		this.url = `http://127.0.0.1:${this.port}/`;
		return this.url;
	}

	async stop() {
		this.server.closeAllConnections();
		await new Promise(resolve => this.server.close(resolve));
	}

	answer(request, response) {
		const url = new URL(request.url, this.url), send = (body, type = "application/json", status = 200) => {
			const write = () => response.writeHead(status, { "content-type": type, "cache-control": "no-store" })
				.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
			if (this.held && url.pathname === "/tiles")
				this.held.push(write);
			else
				write();
		};

		this.asked.push(url.pathname + url.search);
		if (url.pathname === "/")
			return send(this.page, "text/html; charset=utf-8");
		if (this.isRefusing)
			return send("pinch view: open the address that it printed", "text/plain", 403);
		const handler = { "/trace": () => this.done === null ? this.trace.info() : { is_ready: false, done: this.done }, "/now": () => this.now(), "/tiles": of => this.tilesOf(of),
			"/slice": of => this.slice(of), "/alike": of => this.alike(of), "/whatif": () => this.whatif(), "/marks": of => this.trace.marksIn(Number(of.get("from")), Number(of.get("to")), lanesOf(of.get("lanes"))),
			"/drawn-activities": of => this.trace.activitiesIn(Number(of.get("from")), Number(of.get("to")), lanesOf(of.get("lanes"))),
			"/activities": of => this.rows(this.activitiesOf(of), of), "/activities/at": of => this.rowAt(this.activitiesOf(of), of),
			"/waits": of => this.rows(this.waitsOf(of), of), "/waits/at": of => this.rowAt(this.waitsOf(of), of),
			"/waits/lengths": of => this.lengthsOf(this.waitsOf(of)),
			"/executions/choices": () => ({ spans: [], causes: [], figures: [] }),
			"/spans": of => this.rows([], of), "/spans/at": of => this.rowAt([], of),
			"/stretch": of => this.trace.stretch(Number(of.get("from")), Number(of.get("to")), lanesOf(of.get("lanes"))),
			"/events": of => this.events(of), "/events/at": of => this.eventAt(of) }[url.pathname];
		if (url.pathname === "/report")
			return send(this.report, "text/html; charset=utf-8");
		if (!handler)
			return send(`${url.pathname}: there is no such thing`, "text/plain", 404);
		const body = handler(url.searchParams);
		return body === null ? send(`${request.url}: nothing is known`, "text/plain", 404)
			: Buffer.isBuffer(body) ? send(body, "application/octet-stream") : send(body);
	}

	now() {
		const { key = "made", whole_ns } = this.trace;

		return { phase: this.trace.isLive ? "recording" : "whole", key, whole_ns, done: 0, was_followed: this.trace.isLive ?? false, trace_bytes: 1 << 20, budget_bytes: 0, index_bytes: 1 << 19, what: "made up", message: null };
	}

	tilesOf(of) {
		const lanes = lanesOf(of.get("lanes")).map(id => this.trace.lanes[id]);

		return Buffer.concat(lanes.map(lane => Buffer.from(this.trace.tile(lane, Number(of.get("shift")), Number(of.get("index"))))));
	}

	slice(of) {
		const { trace } = this, lane = trace.lanes[Number(of.get("lane"))], slice = lane && trace.sliceAt(lane, Number(of.get("time")));
		const next = slice && trace.sliceAt(lane, slice.end), waker = next?.waker || slice?.waker, by = waker ? trace.lanes[trace.laneOf.get(waker)] : null;

		if (!slice)
			return null;
		const who = one => `${one.name} (tid ${one.tid})`, middle = Math.floor((slice.begin + slice.end) / 2);
		const part = (begin_ns, end_ns, of, kind, what, end) => ({ begin_ns: FIRST_NS + begin_ns, end_ns: FIRST_NS + end_ns, depth: of === lane ? 0 : 1, thread: of.thread, who: who(of), kind, what, end });
		return { thread: lane.thread, who: who(lane), begin_ns: slice.begin, end_ns: slice.end, share: SHARES[slice.share], cpu: slice.share === 1 ? 2 : undefined,
			what: slice.share === 4 ? "mutex pool.lock" : SHARES[slice.share], syscall: slice.share === 4 ? "futex" : null,
			is_stack_of_another: true, stack: [frame("pool_get", "pool.c", 120), frame("serve", "server.c", 42), frame("main", "server.c", 7)],
			waker: by && { thread: waker, who: who(by), stack: [frame("pool_put", "pool.c", 140), frame("serve", "server.c", 60)] },
			path: by && { thread: lane.thread, left_out: 0,
				sums: [{ ns: slice.end - middle, count: 1, max_ns: slice.end - middle, thread: waker, who: who(by), kind: "running", what: "ran pool_put", end: null },
					{ ns: middle - slice.begin, count: 1, max_ns: middle - slice.begin, thread: lane.thread, who: who(lane), kind: "wait", what: "waited", end: who(by) }],
				parts: [part(slice.begin, middle, lane, "wait", "waited", who(by)), part(middle, slice.end, by, "running", "ran pool_put", null)] } };
	}

	/** All waits of the thread that have the same state. */
	alike(of) {
		const { trace } = this, lane = trace.lanes[Number(of.get("lane"))], slice = lane && trace.sliceAt(lane, Number(of.get("time")));
		const from_ns = Number(of.get("from") ?? 0), to_ns = Number(of.get("to") ?? trace.whole_ns);
		const waits = slice ? trace.statesOf(lane.thread).filter(one => one.share === slice.share && one.begin >= from_ns && one.begin < to_ns)
			.sort((a, b) => b.end - b.begin - a.end + a.begin) : [], ns = waits.reduce((sum, one) => sum + one.end - one.begin, 0);

		return { what: "mutex pool.lock", from_ns, to_ns, is_cut: false, count: waits.length, ns, lengths: [{ up_to_ns: 2 ** 20, count: 1, ns: 1e6 }, { up_to_ns: 2 ** 23, count: waits.length, ns }],
			longest: waits.slice(0, 10).map(one => ({ thread: lane.thread, who: `${lane.name} (tid ${lane.tid})`, begin_ns: one.begin, end_ns: one.end, ended_by: null })) };
	}

	whatif() {
		return { recorded_ns: 1e9, recorded_cpus: 2, replay_ns: 1e9, replay_error: 0, cpus: 2, scale: 0.5, kind: "lock", name: "pool.lock", predicted_ns: 8e8, gain: 0.2,
			least_ns: 7e8, most_ns: 9e8, samples: 0, all_samples: 0, spans: [], path: [] };
	}

	/** What all lists choose rows by. */
	passes(of, { time_ns, end_ns, thread, end_thread = thread }) {
		const threads = of.getAll("thread").map(Number), number = (name, otherwise) => Number(of.get(name) ?? otherwise);

		return time_ns >= number("from", -Infinity) && time_ns < number("to", Infinity) && end_ns - time_ns >= number("least", 0)
			&& (!threads.length || threads.includes(thread) || threads.includes(end_thread));
	}

	activitiesOf(of) {
		const search = (of.get("search") ?? "").toLowerCase();

		return this.trace.activities.map(({ begin_ns, words, ...one }) => ({ ...one, time_ns: begin_ns, text: words, source: "built-in" }))
			.filter(one => this.passes(of, one) && (!search || one.name.includes(search) || one.text.includes(search)));
	}

	waitsOf(of) {
		const { trace } = this, causes = of.getAll("cause"), objects = of.getAll("object"), lanes = trace.lanes.filter(lane => lane.kind === "thread");

		return lanes.flatMap(lane => trace.statesOf(lane.thread).map((slice, i, all) => ({ time_ns: slice.begin, end_ns: slice.end, thread: lane.thread, share: SHARES[slice.share],
			text: `wait for ${SHARES[slice.share]}`, ended_by: all[i + 1]?.waker ? `thread ${all[i + 1].waker}` : null }))).filter(one => !["unknown", "running", "spinning"].includes(one.share)
			&& this.passes(of, one) && (!causes.length || causes.includes(one.share)) && (!objects.length || objects.some(word => one.text.includes(word)))).sort((a, b) => a.time_ns - b.time_ns || a.thread - b.thread);
	}

	lengthsOf(waits) {
		const lengths = waits.map(wait => wait.end_ns - wait.time_ns), sum = all => all.reduce((total, ns) => total + ns, 0), buckets = new Map();
		const boxes = [...new Set(waits.map(wait => wait.thread))].map(thread => {
			const own = waits.filter(wait => wait.thread === thread).map(wait => wait.end_ns - wait.time_ns).sort((a, b) => a - b), at = share => own[Math.ceil(own.length * share) - 1];
			return { thread, who: `thread ${thread}`, count: own.length, ns: sum(own), min_ns: own[0], p25_ns: at(0.25), p50_ns: at(0.5), p75_ns: at(0.75), max_ns: own[own.length - 1] };
		}).sort((a, b) => b.ns - a.ns);

		for (const ns of lengths) {
			const up_to_ns = Math.round(2 ** (Math.ceil(Math.log2(ns) * 4) / 4)), bucket = buckets.get(up_to_ns) ?? { up_to_ns, count: 0, ns: 0 };
			buckets.set(up_to_ns, { up_to_ns, count: bucket.count + 1, ns: bucket.ns + ns });
		}
		return { count: waits.length, ns: sum(lengths), is_counted: true, left_out: 0, boxes: boxes.slice(0, 100), box_left_out: Math.max(0, boxes.length - 100),
			lengths: [...buckets.values()].sort((a, b) => a.up_to_ns - b.up_to_ns) };
	}

	rows(inTime, of) {
		const all = of.has("longest-first") ? [...inTime].sort((a, b) => b.end_ns - b.time_ns - a.end_ns + a.time_ns) : inTime;
		const first = Number(of.get("row")), events = all.slice(first, first + Number(of.get("count"))).map((one, i) => ({ row: first + i, ...one }));

		return { first, events, rows: all.length, is_counted: true, left_out: 0 };
	}

	rowAt(all, of) {
		const row = all.findIndex(one => one.time_ns >= Number(of.get("time")));

		return { row: row < 0 ? all.length : row };
	}

	/** Rows by number; with a filter, by going through them. */
	rowsOf(of) {
		const { trace } = this, wanted = name => of.getAll(name), search = (of.get("search") ?? "").toLowerCase();
		const from = of.get("from"), to = of.get("to"), names = ["host", "cpu", "process", "thread", "event"];

		if (!search && !from && !to && !names.some(name => wanted(name).length))
			return { count: trace.events, at: row => trace.event(row) };
		const rows = [];
		for (let row = 0; row < Math.min(trace.events, FILTERED_ROWS_MAX); row++) {
			const event = trace.event(row), called = { ...event, thread: [event.thread, event.tid, event.name], process: [event.process, event.pid] };
			const is = names.every(name => !wanted(name).length || [called[name]].flat().some(one => wanted(name).includes(String(one))));
			if (is && (!from || event.time_ns >= Number(from)) && (!to || event.time_ns < Number(to)) && (!search || `${event.event} ${event.text}`.toLowerCase().includes(search)))
				rows.push(row);
		}
		return { count: rows.length, at: i => ({ ...trace.event(rows[i]), row: i }) };
	}

	events(of) {
		const { count, at } = this.rowsOf(of), rows = Math.min(count, this.counted), first = Number(of.get("row"));
		const n = Math.max(0, Math.min(Number(of.get("count")), 1000, rows - first));

		this.counted += 1000;
		return { rows, is_counted: rows === count, first, events: Array.from({ length: n }, (_, i) => at(first + i)) };
	}

	eventAt(of) {
		const { count, at } = this.rowsOf(of), time = Number(of.get("time"));
		let low = 0, high = count;

		while (low < high) {
			const middle = Math.floor((low + high) / 2);
			if (at(middle).time_ns < time)
				low = middle + 1;
			else
				high = middle;
		}
		return { row: Math.min(low, Math.max(0, count - 1)) };
	}
}
