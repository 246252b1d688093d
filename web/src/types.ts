// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of JSON that are no report, as the writers in src/view/ have them: what is drawn of them. The report's
// types are in report.ts, which is made of src/report/ when pinch is built.
import type {
	ReportKlocks, ResultCodeChange, ResultCodeChanges, ResultCodeDifference, ResultComparison, ResultComparisonCode, ResultComparisonNode,
	ResultConfigurationGroup, ResultConfigurationPart, ResultConfigurations, ResultDifference,
} from "./report";

/** What a report has and the page has not, so that it can be used soon. */
export interface LeftOut {
	waits: { cause: string; waits: number; wait_ns: number }[];	// idle waits are not in it
	locks_with_unlockers: number;	// the first ones
}

/** What the folding rules say of frames. */
export type Folds = [name: string | null, module: string | null, label: string][];

export interface Timelines {
	begin_ns: number;		// 0: unknown
	part_ns: number;
	whole_ns: number;		// the last part may be shorter than the others
	parts: number;
	threads: { name: string; tid: number; pid: number; threads: number; states: Record<string, number[]> }[];
	left_out: number;
	all: Record<string, number[]>;
}

/** Events of programs' own: rows as in Timelines. */
export interface Marks {
	names: string[];
	marks: [row: number, since_ns: number, name: number, argument: number][];
	left_out: number;
}

export type Difference = ResultDifference;
export type ComparisonNode = ResultComparisonNode;
export type CodeDifference = ResultCodeDifference;
export type CodeChange = ResultCodeChange;
export type CodeChanges = ResultCodeChanges;
export type ComparisonCode = ResultComparisonCode;
export type ConfigurationPart = ResultConfigurationPart;
export type ConfigurationGroup = ResultConfigurationGroup;
export type Configurations = ResultConfigurations;

export interface Comparison extends ResultComparison {
	sides: [string, string];
}

/** Kernel locks, with the time that was traced. */
export interface KernelLocks extends ReportKlocks {
	duration_ns: number;
}
