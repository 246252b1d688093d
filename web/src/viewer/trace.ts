// SPDX-License-Identifier: GPL-2.0-or-later
// What the server of pinch view says of a trace. Times are in ns since its first event.
import type { ReportFrame, ResultPath } from "../report";

export type LaneKind = "host" | "process" | "name" | "thread" | "cpu";

export interface Lane {
	id: number;			// its place in the list
	kind: LaneKind;
	parent: number;			// -1: none
	name: string;
	tid: number;
	pid: number;
	threads: number;		// what its columns are sums of
	thread: number;			// its number in the trace, of a thread only
	cpu?: number;
	begin_ns: number;
	end_ns: number;
	ns: Record<string, number>;	// of the whole trace, by state
	lost_ns: number;
	is_idle: boolean;
}

export interface Trace {
	name: string;
	whole_ns: number;
	origin_ns: number;		// from here on tiles count; <= 0
	events: number;
	is_ready: true;
	shares: string[];		// what numbers of states in tiles mean
	hosts: { name: string }[];
	lanes: Lane[];
}

/** While the index is made. */
export interface Unready {
	is_ready: false;
	done: number;
}

/** Of a lane of a CPU: what its share numbers mean. */
export const CPU_TRACED = 1, CPU_OTHER = 5;

export interface Place {
	lane: number;
	time_ns: number;
}

export type StackLine = string | ReportFrame;

export interface SliceDetail {
	share: string;
	begin_ns: number;
	end_ns: number;
	name: string;			// what it waits for
	syscall: string | null;
	stack: StackLine[];
	cpu: number | null;
	waker: { thread: number; lane: number; name: string; tid: number; kind: string; stack: StackLine[] } | null;
	path: ResultPath | null;
	alike: { count: number; ns: number; longest: { lane: number; begin_ns: number; end_ns: number }[] } | null;
}

export interface EventRow {
	row: number;
	time_ns: number;
	host: string | number;
	cpu: number;
	process: string | number;
	thread: number;
	tid: number;
	name: string;
	event: string;
	text: string;
}

export interface EventPage {
	rows: number;
	is_counted: boolean;		// false: there are at least so many
	first: number;
	events: EventRow[];
}

export interface LaneMarks {
	names: string[];
	marks: [lane: number, time_ns: number, name: number, argument: number][];
	left_out: number;
}
