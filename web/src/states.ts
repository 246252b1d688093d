// SPDX-License-Identifier: GPL-2.0-or-later
// What threads do, in the order in which it is stacked, with its title and its colour (style.css).

const list: [string, string][] = [
	["running", "running"],
	["spinning", "spinning"],
	["runnable", "waiting for a CPU"],
	["cpu-wait", "waiting for a CPU"],
	["throttled", "throttled"],
	["lock", "lock"],
	["kernel-lock", "kernel lock"],
	["condition", "condition"],
	["barrier", "barrier"],
	["semaphore", "semaphore"],
	["join", "join"],
	["file", "file"],
	["page-fault", "page fault"],
	["socket", "socket"],
	["pipe", "pipe"],
	["child", "child"],
	["poll", "poll"],
	["sleep", "sleep"],
	["stopped", "stopped"],
	["blocked", "blocked"],
	["other", "other"],
];

const titles = new Map(list);

export const stateNames: readonly string[] = list.map(([name]) => name);

export function stateTitle(name: string): string {
	return titles.get(name) ?? name;
}

/** Kinds of nodes and of parts of paths that look like a state. */
const kinds: Record<string, string> = {
	"running": "running", "spinning": "spinning", "cpu": "runnable", "cpu-limit": "throttled", "disk": "file",
	"disk-idle": "file", "network": "socket", "timer": "sleep", "wait": "lock", "thread": "thread",
	"threads": "thread", "other-thread": "thread", "idle": "other", "softirq": "kernel-lock",
	"interrupted": "kernel-lock", "interrupt": "kernel-lock", "signal": "child", "absent": "other",
	"unknown": "other",
};

export function stateOfKind(kind: string): string {
	return kinds[kind] ?? "other";
}

/** The name of the class and of the custom property of its colour. */
export function colourOf(state: string): string {
	return `c-${titles.has(state) || state === "thread" ? state : "other"}`;
}
