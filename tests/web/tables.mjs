// SPDX-License-Identifier: GPL-2.0-or-later
// Tables in Parquet, read by DuckDB and by hyparquet: what they add up to is what the report says, and their rows are those of the other formats.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, BUILD, directory, main, note, test } from "./browser.mjs";

const PINCH = join(BUILD, "pinch"), TRACE = join(directory, "tables.pinch"), TABLES = join(directory, "tables");
const require = createRequire(join(BUILD, "tests/npm/package.json")), { DuckDBInstance } = require("@duckdb/node-api");
const { compressors } = await import(pathToFileURL(require.resolve("hyparquet-compressors")));
const { parquetReadObjects } = await import(pathToFileURL(join(BUILD, "tests/npm/node_modules/hyparquet/src/index.js")));
const database = await (await DuckDBInstance.create(":memory:")).connect();

function pinch(...words) {
	return execFileSync(PINCH, words, { maxBuffer: 1 << 29, stdio: ["ignore", "pipe", "pipe"] }).toString();
}

/** Records a program and exports the trace. False: that cannot be done here. */
function exported(program, ...words) {
	rmSync(TABLES, { recursive: true, force: true });
	try {
		pinch("record", "-q", "-o", TRACE, "--", join(BUILD, "programs", program), ...words);
	} catch (error) {
		note(`skipped: recording needs root and a built pinch: ${String(error.stderr ?? error).trim().slice(0, 200)}`);
		return false;
	}
	pinch("export", "--format", "parquet", "-o", TABLES, TRACE);
	return true;
}

const file = table => join(TABLES, `${table}.parquet`);

/** Rows of an SQL query, numbers as BigInt; a table's name in braces is its file. */
async function query(sql) {
	const result = await database.runAndReadAll(sql.replace(/\{(\w+)\}/g, (_, table) => `'${file(table)}'`));

	return result.getRows().map(row => row.map(value => typeof value === "object" && value !== null ? String(value) : value));
}

/** The same table as hyparquet has it. */
function read(table) {
	const bytes = readFileSync(file(table));

	return parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), compressors });
}

function equal(got, wanted, what) {
	assert(String(got) === String(wanted), `${what}: ${got}, not ${wanted}`);
}

const sum = (rows, of) => rows.reduce((total, row) => total + BigInt(of(row) ?? 0), 0n);

const dump = (...options) => pinch("dump", "--json", ...options, TRACE).trim().split("\n").map(line => JSON.parse(line));

test("states and samples add up to the report's, to the nanosecond, by thread", async () => {
	if (!exported("multi_mutex"))
		return;
	const { threads } = JSON.parse(pinch("report", "-q", "--json", "-", "--top", "1000", TRACE));
	const states = new Map((await query(`select tid, sum(end_ns - begin_ns) filter (state in ('running', 'spinning')), sum(end_ns - begin_ns) filter (state = 'runnable'),
		sum(end_ns - begin_ns) filter (state not in ('running', 'spinning', 'runnable', 'unknown')), sum(cmetric_ns) from {states} group by tid`)).map(([tid, ...sums]) => [Number(tid), sums]));
	const samples = new Map((await query("select tid, sum(cpu_ns), sum(cmetric_ns) from {samples} group by tid")).map(([tid, ...sums]) => [Number(tid), sums]));

	equal(states.size, threads.length, "threads");
	for (const one of threads) {
		const wanted = [one.running_ns, one.cpu_wait_ns, one.blocked_ns, one.cmetric_ns];
		equal(states.get(one.host_tid).map(ns => ns ?? 0), wanted, `states of ${one.host_tid}`);
		equal(samples.get(one.host_tid)?.[0] ?? 0, one.running_ns, `CPU time in samples of ${one.host_tid}`);
	}
	const [[runnable]] = await query("select sum(cmetric_ns) from {states} where state = 'runnable'");
	equal(sum([...samples.values()], row => row[1]) + BigInt(runnable), threads.reduce((ns, one) => ns + one.cmetric_ns, 0), "CMetric of samples and of waits for a CPU");
	const rows = await read("states");
	equal(sum(rows, row => row.end_ns - row.begin_ns), (await query("select sum(end_ns - begin_ns) from {states}"))[0][0], "hyparquet's sum");
	assert(rows.some(row => row.object === "work_mutex" && row.stack && row.ended_by), "a wait has its object, stack and who ended it");
	assert(rows.every(row => row.state !== "running" || row.stack === null), "a running state has a stack");
});

test("rows are those of the table in CSV, with null for what is empty there", async () => {
	if (!exported("tcp_slow"))
		return;
	pinch("export", "--format", "csv", "-o", join(directory, "all.csv"), TRACE);
	await database.run(`create or replace table csv as select * from read_csv('${join(directory, "all.csv")}', all_varchar = true, header = true)`);
	const columns = "thread::bigint, tid::bigint, pid::bigint, thread_name";
	const pairs = [
		[`select ${columns}, begin_ns, end_ns, state, object, ended_by, cpu, cmetric_ns, stack from {states}`,
			`select ${columns}, begin_ns::bigint, end_ns::bigint, name, object, other, cpu::bigint, cmetric_ns::bigint, stack from csv where kind = 'state'`],
		[`select ${columns}, time_ns, woken_thread, woken_name from {wake_ups}`, `select ${columns}, begin_ns::bigint, object::bigint, other from csv where kind = 'wake-up'`],
	];
	for (const [ours, theirs] of pairs) {
		const [[count]] = await query(`select count(*) from (${ours})`);
		assert(count > 0n, "there are no rows");
		equal(count, (await query(`select count(*) from (${theirs})`))[0][0], "rows");
		equal((await query(`select count(*) from ((${ours}) except all (${theirs}))`))[0][0], 0, "rows that CSV does not have");
	}
	const realtime = /"realtime_ns": (\d+)/.exec(pinch("dump", "--json", TRACE))[1];
	equal(await query(`select distinct epoch_us(time) - (begin_ns + ${realtime}) // 1000 from {states}`), 0, "us between the time of day and that of the first event and the time since it");
});

test("events of the program's own and activities are those of the trace", async () => {
	if (!exported("own_activities", "20"))
		return;
	const first = dump()[0].time_ns, listed = dump("--activities");
	const wanted = listed.map(one => [one.activity, one.tid, one.begin_ns - first, one.end_ns - first].join()).sort();
	equal((await query("select name, tid, begin_ns, end_ns from {activities}")).map(row => row.join()).sort(), wanted, "activities");
	const events = dump().filter(one => "argument" in one).map(one => [one.event, one.time_ns - first].join()).sort();
	equal((await query("select name, time_ns from {events} where fields <> ''")).map(row => row.join()).sort(), events, "events");
	assert(events.length > 100 && wanted.length === 60, `${events.length} events, ${wanted.length} activities`);
});

test("tables of more rows than a row group holds, and of more words than its dictionary, are whole; groups know their times", async () => {
	const generator = join(BUILD, "bench/trace_gen"), ranges = `select row_group_id, any_value(row_group_num_rows), min(stats_min_value::bigint), max(stats_max_value::bigint)
		from parquet_metadata(FILE) where path_in_schema = 'end_ns' group by 1 order by 1`;

	execFileSync(generator, [TRACE, "500000"], { stdio: "pipe" });
	rmSync(TABLES, { recursive: true, force: true });
	pinch("export", "--format", "parquet", "-o", TABLES, TRACE);
	const { threads } = JSON.parse(pinch("report", "-q", "--json", "-", "--top", "1000", TRACE)), groups = await query(ranges.replace("FILE", "{states}"));
	const [[count, ns]] = await query("select count(*), sum(end_ns - begin_ns) filter (state <> 'unknown') from {states}");
	assert(count > 1 << 17, `${count} rows`);
	assert(groups.length >= 2, `${groups.length} row groups`);
	equal(sum(groups, row => row[1]), count, "rows of all groups");
	equal(ns, sum(threads, one => one.running_ns + one.cpu_wait_ns + one.blocked_ns), "ns");
	groups.slice(1).forEach((row, i) => assert(row[2] >= groups[i][2] && row[3] >= groups[i][3], `group ${i + 1} comes before group ${i}`));
	equal((await query("select count(*) from {states} where end_ns > (select max(end_ns) / 2 from {states})"))[0][0],
		sum(await read("states").then(rows => { const end = rows.reduce((end, row) => row.end_ns > end ? row.end_ns : end, 0n); return rows.filter(row => row.end_ns > end / 2n); }), () => 1), "rows of the second half");
	if (!exported("own_events", "threads", "1", "90000", "1000"))
		return;
	const [[words, events]] = await query("select count(distinct fields), count(*) from {events}"), dictionaries = await query("select distinct row_group_id from parquet_metadata({events})");
	note(`${events} events with ${words} different fields in ${dictionaries.length} row groups`);
	assert(words < 1 << 16 || dictionaries.length >= 2, "a dictionary is larger than it may be");
	equal(events, dump().filter(one => "argument" in one).length, "events");
	equal((await read("events")).length, events, "hyparquet's rows");
});

await main();
