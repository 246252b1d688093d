// SPDX-License-Identifier: GPL-2.0-or-later
// The root causes: what took the time that threads lost, each moment counted at the end of its chain of waits.
import { useState } from "preact/hooks";
import { CopyCsv } from "./csv";
import { duration, exactNs, plural, shareOf, visible } from "./format";
import { Section, useIsPrinting } from "./page";
import type { Report } from "./report";
import { Stack } from "./stack";

type Root = Report["blame"]["roots"][number];

const ROOTS_FIRST = 5, CHAIN_SHARE_MIN = 0.001, PRINTED_SHARE_MIN = 0.01;

function RootCause({ root, lost_ns }: { root: Root; lost_ns: number }) {
	return <li>
		<span class="share number" data-tip={`${exactNs(root.ns)} of lost time`}>{shareOf(root.ns, lost_ns)}</span>
		<div>
			<p><strong>{visible(root.text)}</strong></p>
			<ul>
				<li>{duration(root.ns)}{root.error_ns > 0 && ` \u00b1 ${duration(root.error_ns)}`} lost{root.victims > 0 && `, by ${plural(root.victims, "thread")}`}</li>
				{root.chains.filter(chain => chain.steps.length > 1 && chain.ns >= CHAIN_SHARE_MIN * root.ns).map((chain, i) =>
					<li key={i}>{duration(chain.ns)} came so: {chain.steps.map(visible).join(", behind it ")}</li>)}
			</ul>
			{root.stack.length > 0 && <details><summary class="muted">Call path</summary><Stack frames={root.stack} /></details>}
		</div>
	</li>;
}

export function Causes({ report }: { report: Report }) {
	const { blame: { roots, lost_ns, followed_ns } } = report;
	const [isAll, showAll] = useState(false), isPrinting = useIsPrinting();
	const shown = isAll ? roots : roots.filter((root, i) => i < ROOTS_FIRST || (isPrinting && root.ns >= PRINTED_SHARE_MIN * lost_ns));
	const tools = <CopyCsv of="causes" make={() => ({
		titles: ["cause", "kind", "lost (ns)", "error (ns)", "threads"],
		rows: roots.map(root => [root.text, root.kind, root.ns, root.error_ns, root.victims]),
	})} />;

	if (!roots.length)
		return null;
	return <Section id="causes" title="Lost time by cause" tools={tools}
		about={`Of ${duration(lost_ns)} that threads lost, each moment counts at the end of its chain of waits${
			followed_ns === lost_ns ? "" : "; small waits, not followed, are other causes"}.`}>
		<ol class="findings">{shown.map((root, i) => <RootCause key={i} root={root} lost_ns={lost_ns} />)}</ol>
		{roots.length > ROOTS_FIRST && <button type="button" class="no-print" onClick={() => showAll(!isAll)}>
			{isAll ? "Show fewer" : `Show all ${roots.length}`}</button>}
	</Section>;
}
