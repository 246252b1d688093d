// SPDX-License-Identifier: GPL-2.0-or-later
// Locks of one class: the same kind and name or, without a name, the same place. src/view/lock_classes.c has the same rule.
import type { ReportLock } from "./report";

export interface LockClass {
	locks: ReportLock[];		// in the report's order
	name: string;
	kind: string;
	where: string | null;
	wait_ns: number;		// not idle
	waits: number;
	p50_ns: number;			// these three: the largest of one lock
	p99_ns: number;
	max_ns: number;
	queue_max: number;
	hold_ns: number;
	holder: string | null;		// of one lock alone
}

const isLock = (lock: ReportLock) => lock.kind !== "join";	// nobody holds the end of a thread
const keyOf = ({ kind, name, where }: ReportLock) => [kind, name === null ? "" : `n${name}`, name === null && where !== null ? `w${where}` : ""].join("\n");

function nameOf(locks: ReportLock[]): string {
	const { name, address, where } = locks[0];

	if (locks.length === 1)
		return name ?? address;
	return `${locks.length} ${name ?? (where ? "locks" : "locks, place unknown")}`;
}

function classOf(locks: ReportLock[]): LockClass {
	const sum = (value: (lock: ReportLock) => number) => locks.reduce((all, lock) => all + value(lock), 0);
	const most = (value: (lock: ReportLock) => number) => locks.reduce((all, lock) => Math.max(all, value(lock)), 0);

	return { locks, name: nameOf(locks), kind: locks[0].kind, where: locks[0].where, wait_ns: sum(l => l.wait_ns - l.idle_ns), waits: sum(l => l.waits),
		p50_ns: most(l => l.p50_ns), p99_ns: most(l => l.p99_ns), max_ns: most(l => l.max_ns), queue_max: most(l => l.queue_max),
		hold_ns: sum(l => l.hold_ns), holder: locks.length === 1 ? locks[0].holder : null };
}

/** By time lost, longest first. */
export function lockClasses(locks: ReportLock[]): LockClass[] {
	const byKey = new Map<string, ReportLock[]>();

	for (const lock of locks.filter(isLock)) {
		const key = keyOf(lock), known = byKey.get(key);

		if (known)
			known.push(lock);
		else
			byKey.set(key, [lock]);
	}
	return [...byKey.values()].map(classOf).sort((a, b) => b.wait_ns - a.wait_ns);
}
