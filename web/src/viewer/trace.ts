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
	cpu: number;
	thread: number;			// its number in the trace, of a thread only
	threads: number;		// what its columns are sums of
	begin_ns: number;
	end_ns: number;
	ns: number[];			// of the whole trace, by number of the share
	lost_ns: number;
	is_idle: boolean;
	title?: string;			// what it is called, if that does not follow from the rest
}

/** In which records were lost. */
export interface Gap {
	begin_ns: number;
	end_ns: number;
}

export interface Trace {
	name: string;
	is_ready: true;
	first_ns: number;		// CLOCK_MONOTONIC
	begin_ns: number;		// when the first state begins
	whole_ns: number;
	origin_ns: number;		// from here on tiles count; <= 0
	events: number | null;		// null: not counted
	shares: string[];		// what numbers of states in tiles mean
	lanes: Lane[];
	left_out: number;		// threads without a lane
	gaps: Gap[];			// when records were lost
	is_live: boolean;		// more comes, or its index is being made
	key: string;			// of the lanes: another one, they are others
	isOfExecutions?: boolean;	// times are since the beginning of each lane, which is that of an execution
	threadWords?: ReadonlyMap<number, string>;	// what threads are called that have no lane
}

/** How far the trace is, and what becomes of it. */
export interface Now {
	phase: "whole" | "recording" | "indexing" | "stopped";
	key: string;
	whole_ns: number;
	kept_from_ns?: number;		// what was before has been overwritten by a ring
	done: number;			// while it is indexed
	trace_bytes: number;
	budget_bytes: number;		// 0: there is none
	index_bytes: number;		// besides, while it is recorded
	what: string | null;		// what is recorded; null: a file
	exit_status?: number;		// of the command, when it has ended
	message: string | null;
}

/** As the server has it. */
export interface Answer extends Omit<Trace, "events" | "gaps" | "lanes" | "is_live" | "key"> {
	gaps?: Gap[];
	events?: number;
	is_live?: boolean;
	key?: string;
	lanes: (Omit<Lane, "parent"> & { parent?: number })[];
}

/** While the index is made. */
export interface Unready {
	is_ready: false;
	done: number;
}

export function traceOf(answer: Answer): Trace {
	return { ...answer, events: answer.events ?? null, gaps: answer.gaps ?? [], is_live: answer.is_live ?? false, key: answer.key ?? "", lanes: answer.lanes.map(lane => ({ ...lane, parent: lane.parent ?? -1, threads: Math.max(1, lane.threads) })) };
}

/** What shares of lanes of CPUs mean. */
export const CPU_TRACED = 1, CPU_OTHER = 2;

export interface Place {
	lane: number;
	time_ns: number;
}

export interface CpuUser {
	thread: number;
	who: string;
	ns: number;
}

export interface SliceDetail {
	thread: number;
	who: string;
	begin_ns: number;
	end_ns: number;
	share: string;
	cpu?: number;			// where it ran, if that is known
	users?: CpuUser[];		// of a thread that was ready: who had the CPU that it got
	what: string;			// what it did or waited for
	syscall: string | null;
	stack: ReportFrame[];
	is_stack_of_another: boolean;	// which waited for the same
	waker: { thread: number; who: string; stack: ReportFrame[] } | null;	// thread 0: no thread that is traced
	path: ResultPath | null;	// its times are of CLOCK_MONOTONIC
}

export interface AlikeWait {
	thread: number;
	who: string;
	begin_ns: number;
	end_ns: number;
	ended_by: string | null;
}

/** All waits for the same thing that begin in a stretch of time. */
export interface Alike {
	what: string;
	from_ns: number;
	to_ns: number;
	is_cut: boolean;		// it ends at to_ns, earlier than was asked for
	count: number;
	ns: number;
	lengths: Length[];
	longest: AlikeWait[];
}

/** A row of a list. Of other lists than that of events it has no host, CPU, process and tid, and name is that of the activity or span. */
export interface EventRow {
	row: number;
	time_ns: number;
	host: string | number;
	cpu: number | null;
	process: string | number;
	thread: number;
	tid: number;
	name: string;
	event: string;
	text: string;
	place?: string;			// of a sample: its call path
	// Of what lasts.
	end_ns?: number;
	end_thread?: number;
	source?: string;		// who found an activity
	share?: string;			// of a wait
	ended_by?: string | null;
}

export interface EventPage {
	rows: number;
	is_counted: boolean;		// false: there are at least so many
	first: number;
	left_out?: number;		// there are too many to be listed
	events: EventRow[];
}

/** How lanes spent a stretch of time, by the numbers of shares. */
export interface Stretch {
	from_ns: number;
	to_ns: number;
	lanes: { lane: number; ns: number[] }[];
}

/** How long the waits of a thread are. */
export interface WaitBox {
	thread: number;
	who: string;
	count: number;
	ns: number;
	min_ns: number;
	p25_ns: number;
	p50_ns: number;
	p75_ns: number;
	max_ns: number;
}

export interface Length {
	up_to_ns: number;
	count: number;
	ns: number;
}

export interface WaitLengths {
	count: number;
	ns: number;
	is_counted: boolean;
	left_out: number;
	boxes: WaitBox[];		// who waited longest comes first
	box_left_out: number;
	lengths: Length[];
}

/** A lane is -1 where the thread has none. */
export interface LaneActivities {
	names: string[];
	activities: [lane: number, begin_ns: number, end_ns: number, name: number, end_lane: number, is_message: boolean, words: string][];
	left_out: number;
	until_ns: number;		// up to when the trace was read
	is_complete: boolean;
}

export interface LaneMarks {
	names: string[];
	marks: [lane: number, time_ns: number, name: number, argument: number][];
	left_out: number;
	unread?: number;		// what was not looked at, for the stretch is long
	is_counted?: boolean;		// false: there are more when what is chosen is counted
	wakes?: [lane: number, time_ns: number][];	// those that a script chooses, by who was woken; none: it chooses none, or there is none
	wakes_left_out?: number;
}
