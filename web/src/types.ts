// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of JSON that are no report, as the writers in src/view/ have them: what is drawn of them. The report's
// types are in report.ts, which is made of src/report/ when pinch is built.
import type { ReportKlocks } from "./report";

/** What a report has and the page has not, so that it can be used soon. */
export interface LeftOut {
	waits: { cause: string; waits: number; wait_ns: number }[];	// idle waits are not in it
	locks_with_unlockers: number;	// the first ones
}

export interface Timelines {
	begin_ns: number;		// 0: unknown
	part_ns: number;
	parts: number;
	threads: { name: string; tid: number; pid: number; threads: number; states: Record<string, number[]> }[];
	left_out: number;
	all: Record<string, number[]>;
}

export interface Sample {
	n: number;
	mean: number;
	deviation: number | null;
}

export interface Difference {
	first: Sample;
	second: Sample;
	change: number;
	change_share: number | null;
	d: number | null;
	p: number | null;
}

export interface ComparisonNode extends Difference {
	parent: number | null;
	kind: string;
	label: string;
	boldness: number;
	in: [number, number];
}

export interface Comparison {
	of: string;
	is_per_second: boolean;
	sides: [string, string];
	silhouette?: number;
	groups?: { duration_ns: Sample }[];
	outliers?: { since_ns: number; duration_ns: number; thread: string }[];
	conditions: { condition: string; holds: boolean }[];
	reasons: ({ words: string; node: number | null } & Difference)[];
	unsure: number;
	figures: ({ name: string } & Difference)[];
	nodes: ComparisonNode[];
	left_out?: number;		// nodes, none of them with more time than these
}

/** Kernel locks, with the time that was traced. */
export interface KernelLocks extends ReportKlocks {
	duration_ns: number;
}
