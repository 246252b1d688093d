// SPDX-License-Identifier: GPL-2.0-or-later
// What the server of pinch view says of a trace. Times are in ns since its first event.
import type { LaneKind, ResultAlike, ResultAlikeWait, ResultCpuUser, ResultLane, ResultLength, ResultMeans, ResultNow, ResultSample, ResultState, ResultStretch, ResultViewed, ResultViewedGap, ResultWaitBox,
	ResultWaitLengths } from "../report";

export type { LaneKind };

/** A lane that is below none has the parent -1. */
export interface Lane extends ResultLane {
	parent: number;
	title?: string;			// what it is called, if that does not follow from the rest
}

export type Gap = ResultViewedGap;

export interface Trace extends Omit<ResultViewed, "lanes" | "is_ready"> {
	is_ready: true;
	events: number | null;		// null: not counted
	lanes: Lane[];
	isOfExecutions?: boolean;	// times are since the beginning of each lane, which is that of an execution
	threadWords?: ReadonlyMap<number, string>;	// what threads are called that have no lane
}

export type Now = ResultNow;

/** As the server has it, which does not count events; so that pages of tests need not say all, some may be missing. */
export type Answer = Omit<ResultViewed, "is_ready" | "gaps" | "is_live" | "key"> & Partial<Pick<ResultViewed, "gaps" | "is_live" | "key">> & { is_ready: true; events?: number };

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

export type CpuUser = ResultCpuUser;

/** Times of its path are of CLOCK_MONOTONIC. */
export type SliceDetail = ResultState;
export type AlikeWait = ResultAlikeWait;
export type Alike = ResultAlike;

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

export type Stretch = ResultStretch;
export type Sample = ResultSample;
export type Means = ResultMeans;
export type WaitBox = ResultWaitBox;
export type Length = ResultLength;
export type WaitLengths = ResultWaitLengths;

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
