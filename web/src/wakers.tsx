// SPDX-License-Identifier: GPL-2.0-or-later
// Who ended waits.
import { duration, plural, share, visible } from "./format";
import type { ReportWaker } from "./report";
import { Stack, headline } from "./stack";

const SHARE_MIN = 0.005;

/** What ended a wait without a thread; the words of the text. */
const withoutThread: Partial<Record<ReportWaker["context"], string>> = {
	timer: "timed out", disk: "ended by the disk", network: "ended by the network", interrupt: "ended by an interrupt",
	none: "still waiting at the end", lost: "ended by something whose record was lost",
	hidden: "ended by a thread that the kernel hides from tracers",
};
const beforeThread: Partial<Record<ReportWaker["context"], string>> = {
	exit: "the end of ", process: "another program's ", kernel: "the kernel's ", signal: "a signal from ",
};

function whoOf({ context, names, name, stack }: ReportWaker): string {
	const who = names ? `threads ${visible(names)}` : `thread ${visible(name ?? "?")}`;

	return withoutThread[context] ?? `${beforeThread[context] ?? ""}${who}${stack.length ? ` in ${headline(stack)}` : ""}`;
}

export function Wakers({ wakers, title }: { wakers: ReportWaker[]; title: string }) {
	const rest = 1 - wakers.reduce((sum, waker) => sum + waker.share, 0);

	if (!wakers.length)
		return null;
	return <>
		<h4>{title}</h4>
		{wakers.map((waker, i) => <details key={i}>
			<summary>{share(waker.share)}: {whoOf(waker)}, {plural(waker.waits, "time")}, {
				duration(waker.wait_ns)} waited, {duration(waker.cmetric_ns)} of criticality</summary>
			<Stack frames={waker.stack} />
		</details>)}
		{rest > SHARE_MIN && <p class="muted">{share(rest)}: others, or unknown.</p>}
	</>;
}
