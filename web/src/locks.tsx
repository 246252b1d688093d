// SPDX-License-Identifier: GPL-2.0-or-later
// Locks by the time that threads waited for them, those of one class as one row, as in the text.
import { useMemo } from "preact/hooks";
import { BlockedOn } from "./blocked_on";
import { described, ns, threads, words } from "./columns";
import { duration, plural, visible } from "./format";
import { type LockClass, lockClasses } from "./lock_classes";
import { Section } from "./page";
import { columnsOfReportLock, type Report, type ReportLock } from "./report";
import { type Column, Table } from "./table";
import type { LeftOut } from "./types";
import { Wakers } from "./wakers";

const LOCKS_SHOWN = 50;			// of one class

const columns: Column<LockClass>[] = [
	words("lock", c => c.name, true), words("kind", c => c.kind), words("in", c => c.where), ns("waited", c => c.wait_ns),
	...described<LockClass>(columnsOfReportLock), threads("queue", c => c.queue_max), words("holder", c => c.holder),
];

function LockWords({ lock }: { lock: ReportLock }) {
	return <p>{visible(lock.kind)} at {visible(lock.address)}: {plural(lock.waits, "wait")}, up to {plural(lock.queue_max, "thread")} at once; held {
		plural(lock.holds, "time")} for {duration(lock.hold_ns)} while others waited{lock.holder ? `, mostly by ${visible(lock.holder)}` : ""}.
		{lock.spurious_wakeups ? ` ${plural(lock.spurious_wakeups, "wake-up")} spurious.` : ""}</p>;
}

function LockDetail({ lock }: { lock: ReportLock }) {
	return <>
		<LockWords lock={lock} />
		<BlockedOn on={lock.blocked_on} />
		<Wakers wakers={lock.unlockers} title="Released by" />
	</>;
}

function Detail({ of: { locks, name, kind, where } }: { of: LockClass }) {
	if (locks.length === 1)
		return <><h3>{visible(name)}</h3><LockDetail lock={locks[0]} /></>;
	return <>
		<h3>{visible(name)}: {visible(kind)}{where && ` in ${visible(where)}`}</h3>
		<p class="muted">p50, p99 and the longest wait are the largest of one lock.</p>
		{locks.slice(0, LOCKS_SHOWN).map((lock, i) => <details key={i}>
			<summary>{visible(lock.address)}: {duration(lock.wait_ns - lock.idle_ns)}, {plural(lock.waits, "wait")}</summary>
			<LockDetail lock={lock} />
		</details>)}
		{locks.length > LOCKS_SHOWN && <p class="muted">{plural(locks.length - LOCKS_SHOWN, "lock")} with less time lost are not listed.</p>}
	</>;
}

export function Locks({ report, leftOut }: { report: Report; leftOut?: LeftOut }) {
	const classes = useMemo(() => lockClasses(report.locks), [report]);

	return <Section id="locks" title="Locks" isHeavy about="Locks by the time that threads waited for them, those of one kind and name, or of one place, together; and the threads that released them.">
		<Table name="locks" columns={columns} rows={classes} sort={3} search={c => c.locks.map(lock => lock.address).join("\n")} detail={c => <Detail of={c} />} />
		{leftOut && report.locks.length > leftOut.locks_with_unlockers && <p class="muted">The threads that released them are listed for the {
			plural(leftOut.locks_with_unlockers, "lock")} with most time lost.</p>}
	</Section>;
}
