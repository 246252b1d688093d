// SPDX-License-Identifier: GPL-2.0-or-later
// Groups of the executions of one trace, and each group as something to look at: a lane for each execution, whose time counts from its beginning.
import { duration, plural } from "../format";
import { titleOf } from "./lanes";
import { query, Server } from "./server";
import type { Lane, Trace } from "./trace";

/** What executions may be of, and what may tell groups apart. */
export interface Choices {
	spans: { name: string; count: number }[];
	causes: string[];
	figures: string[];
}

/** How they are grouped, and which groups are compared: options of pinch compare, and parameters of the address. */
export const questionNames = ["span", "cycle", "groups", "feature", "between"] as const;
export type Question = Partial<Record<(typeof questionNames)[number], string>>;

/** As the server has them. */
export interface Executions {
	is_ready: true;
	count: number;			// of groups; 0 is that of the outliers
	drawn_max: number;		// so many of a group are drawn together
	sums: number[][];		// by group: ns by the number of the state
	threads: number[];		// by execution, by their beginnings
	begins_ns: number[];
	lengths_ns: number[];
	groups: number[];
}

const WORD_MAX = 500;

export function questionOf(search: string): Question {
	const words = new URLSearchParams(search);

	return Object.fromEntries(questionNames.map(name => [name, words.get(name)?.slice(0, WORD_MAX)]).filter(([, word]) => word));
}

/** Of several spans there is one to be chosen: that with most executions is looked at first. */
export function completed(question: Question, { spans }: Choices): Question {
	const most = [...spans].sort((a, b) => b.count - a.count)[0];

	return question.cycle || question.span || !most ? question : { ...question, span: most.name };
}

/** The numbers of the groups that are compared: the fastest one and the slowest, or those that are asked for. */
export function sidesOf(question: Question, { count }: Executions): [number, number] {
	const [a, b] = (question.between ?? "").split(",").map(Number);

	return a >= 1 && a <= count && b >= 1 && b <= count ? [a, b] : [1, count];
}

/** Answers of lanes of one group. */
export class GroupServer extends Server {
	constructor(private question: Question, private group: number) {
		super();
	}

	override path(path: string): string {
		const [route, words] = path.split("?");

		return words === undefined ? path : `${query(`executions/${route}`, { ...this.question, group: this.group })}&${words}`;
	}
}

export interface Group {
	number: number;
	members: number[];		// numbers of executions, by their beginnings
	drawn: number;			// so many are drawn together
}

export function groupOf({ groups, drawn_max }: Executions, number: number): Group {
	const members = groups.flatMap((group, i) => group === number ? [i] : []), step = 1 + Math.floor(Math.max(0, members.length - 1) / drawn_max);

	return { number, members, drawn: Math.ceil(members.length / step) };
}

const common = { cpu: 0, pid: 0, tid: 0, begin_ns: 0, is_idle: false };

function laneOf(execution: number, id: number, of: Executions, lanes: Map<number, Lane>): Lane {
	const thread = of.threads[execution], lane = lanes.get(thread), length_ns = of.lengths_ns[execution];

	return { ...common, id, kind: "thread", parent: 0, name: lane?.name ?? "", tid: lane?.tid ?? 0, pid: lane?.pid ?? 0, thread, threads: 1, end_ns: length_ns, ns: [], lost_ns: length_ns,
		title: `#${execution + 1} ${lane ? titleOf(lane) : `thread number ${thread}`}, ${duration(length_ns)}` };
}

/** Lanes by their threads. */
export function lanesOfThreads(trace: Trace): Map<number, Lane> {
	return new Map(trace.lanes.filter(lane => lane.kind === "thread").map(lane => [lane.thread, lane]));
}

/** Lane 0 is all of them together. */
export function traceOfGroup(trace: Trace, of: Executions, group: Group): Trace {
	const lanes = lanesOfThreads(trace), { members, drawn, number } = group, longest_ns = members.reduce((most, i) => Math.max(most, of.lengths_ns[i]), 1);
	const all: Lane = { ...common, id: 0, kind: "process", parent: -1, name: `group ${number}`, thread: 0, threads: drawn, end_ns: longest_ns, ns: of.sums[number] ?? [], lost_ns: 0,
		title: drawn < members.length ? `${drawn} of ${plural(members.length, "execution")}` : `all ${plural(members.length, "execution")}` };

	return {
		...trace, name: `${trace.name}, group ${number}`, begin_ns: 0, whole_ns: longest_ns, origin_ns: 0, events: null, gaps: [], left_out: 0, is_live: false, isOfExecutions: true,
		threadWords: new Map([...lanes].map(([thread, lane]) => [thread, titleOf(lane)])),
		lanes: [all, ...members.map((execution, i) => laneOf(execution, i + 1, of, lanes))],
	};
}

/** The address of the ordinary page, with the execution in its thread; list: of what happened in it. */
export function linkTo(of: Executions, execution: number, lane: Lane | undefined, list: "events" | "waits"): string {
	const begin_ns = of.begins_ns[execution], end_ns = begin_ns + of.lengths_ns[execution], around_ns = Math.round(of.lengths_ns[execution] / 2);
	const words: [string, string | number | undefined][] = [["view", `${begin_ns - around_ns}~${end_ns + around_ns}`], ["sel", `${begin_ns}~${end_ns}`], ["focus", lane?.id],
		["slice", lane && `${lane.id}@${begin_ns}`], ["within", 1], ["list", list === "events" ? undefined : list], ["thread", list === "waits" ? lane?.tid : undefined]];

	return `./#${words.filter(([, word]) => word !== undefined).map(([name, word]) => `${name}=${word}`).join("&")}`;
}
