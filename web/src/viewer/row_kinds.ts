// SPDX-License-Identifier: GPL-2.0-or-later
// The lists that there are: what their rows are asked for by, and what they show.
import { duration, visible } from "../format";
import { stateTitle } from "../states";
import { titleOf } from "./lanes";
import { exactly } from "./moment";
import type { Session } from "./session";
import type { FilterName, ListName } from "./store";
import type { EventRow } from "./trace";

export interface Column {
	title: string;
	name: string;			// of its class
	filter: FilterName | null;
	hint: string;
	show: (row: EventRow, session: Session) => string;
}

export interface RowKind {
	name: ListName;
	title: string;
	one: string;
	many: string;
	about: string;
	path: string;			// of the server
	event: string | null;		// of events: of this name only
	hasScripts: boolean;		// a script chooses or finds some
	columns: Column[];
}

/** As the trace calls a thread; the server says only its number. */
function threadTitle(session: Session, thread: number | undefined): string {
	const lane = session.lane(session.tree.laneOfThread.get(thread ?? 0) ?? null);

	return lane ? titleOf(lane) : thread ? `thread number ${thread}` : "";
}

export const time: Column = { title: "time", name: "time", filter: null, hint: "", show: row => exactly(row.time_ns) };
export const length: Column = { title: "length", name: "length", filter: "longer", hint: "over 1ms", show: row => row.end_ns === undefined ? "" : duration(row.end_ns - row.time_ns) };
const thread: Column = { title: "thread", name: "thread", filter: "thread", hint: "name or tid", show: (row, session) => threadTitle(session, row.thread) };
const text = (title: string, hint: string): Column => ({ title, name: "arguments", filter: hint ? "search" : null, hint, show: row => visible(row.text) });

const eventColumns: Column[] = [
	time,
	{ title: "host", name: "host", filter: "host", hint: "name", show: row => visible(String(row.host)) },
	{ title: "CPU", name: "CPU", filter: "cpu", hint: "0, 1", show: row => String(row.cpu ?? "") },
	{ title: "process", name: "process", filter: "process", hint: "name or pid", show: row => visible(String(row.process)) },
	{ title: "thread", name: "thread", filter: "thread", hint: "name or tid", show: row => row.tid ? `${visible(row.name)} ${row.tid}` : "" },
	{ title: "event", name: "event", filter: "event", hint: "sched.SWITCH", show: row => visible(row.event) },
	{ title: "arguments", name: "arguments", filter: "search", hint: "text in the line", show: row => visible(row.text) },
];

/** Of waits, with a filter of spans. */
export const WHOLE_WAITS = "With a filter of spans: all waits with a part in these executions, as long as they are; sums of states have the parts alone.";

export const rowKinds: RowKind[] = [
	{ name: "events", title: "Events", one: "event", many: "events", path: "events", event: null, hasScripts: true, columns: eventColumns,
		about: "All that the trace has, in the order of time. A row shows its moment in the graph, and the graph's cursor its row here." },
	{ name: "activities", title: "Activities", one: "activity", many: "activities", path: "activities", event: null, hasScripts: true,
		about: "What lasts from one of the programs' own events to another one, and messages; by when they begin.",
		columns: [time, length, thread, { title: "activity", name: "event", filter: null, hint: "", show: row => visible(row.name) }, text("parameters", "name or parameter"),
			{ title: "ended by", name: "other", filter: null, hint: "", show: (row, session) => row.end_thread === row.thread ? "" : threadTitle(session, row.end_thread) },
			{ title: "found by", name: "other", filter: null, hint: "", show: row => visible(row.source ?? "") }] },
	{ name: "waits", title: "Waits", one: "wait", many: "waits", path: "waits", event: null, hasScripts: false, about: "What threads were blocked by, and when they waited for a CPU; by when they begin.",
		columns: [time, length, thread, { title: "state", name: "event", filter: "cause", hint: "lock, runnable", show: row => stateTitle(row.share ?? "") }, { title: "waited for", name: "arguments", filter: "object", hint: "lock, file or peer", show: row => visible(row.text) },
			{ title: "ended by", name: "other", filter: null, hint: "", show: row => visible(row.ended_by ?? "") }] },
	{ name: "spans", title: "Spans", one: "span", many: "spans", path: "spans", event: null, hasScripts: false, about: "Executions of the spans that were recorded (--span); by when they begin.",
		columns: [time, length, thread, { title: "span", name: "event", filter: "search", hint: "name", show: row => visible(row.name) }, text("did", "")] },
	{ name: "samples", title: "Samples", one: "sample", many: "samples", path: "events", event: "sched.SAMPLE", hasScripts: true, about: "Where running threads were at ticks of the sampling period.",
		columns: [...eventColumns.filter(column => column.filter !== "event" && column.filter !== "search"), { title: "where", name: "arguments", filter: null, hint: "", show: row => visible(row.place ?? row.text) }] },
];

/** Those that a list has filters for. */
export function filtersOf(kind: RowKind): FilterName[] {
	return kind.columns.flatMap(column => column.filter ?? []);
}
