// SPDX-License-Identifier: GPL-2.0-or-later
// What those did that were waited for, and those whom they waited for in turn.
import { duration, share, visible } from "./format";
import type { ReportBlockedOn } from "./report";
import { Stack, headline } from "./stack";
import { stateTitle } from "./states";

const SHARE_MIN = 0.005;

export function BlockedOn({ on }: { on: ReportBlockedOn | null }) {
	if (!on || !on.ns)
		return null;
	const part = (ns: number) => share(ns / on.ns);

	return <>
		<h4>What they waited for</h4>
		{on.code.filter(code => code.ns >= SHARE_MIN * on.ns).map((code, i) => <details key={i}>
			<summary>{part(code.ns)} &plusmn; {part(code.error_ns)}: {visible(headline(code.stack))} ran</summary>
			<Stack frames={code.stack} />
		</details>)}
		{on.waits.filter(wait => wait.ns >= SHARE_MIN * on.ns).map((wait, i) => <details key={i}>
			<summary>{part(wait.ns)}: {stateTitle(wait.cause)} {visible(wait.object ?? "")}</summary>
			<Stack frames={wait.stack} />
		</details>)}
		<p class="muted">Of {duration(on.ns)}: {part(on.running_ns)} ran, {part(on.cpu_wait_ns)} waited for a CPU, {part(on.waiting_ns)} waited for what no
			traced thread ended, {part(on.unknown_ns)} unknown.</p>
	</>;
}
