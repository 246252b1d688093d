// SPDX-License-Identifier: GPL-2.0-or-later
// Which waits a report is of, where it is of some alone.
import { count, duration, exactNs, plural, shareOf, visible } from "./format";
import { Section } from "./page";
import type { ReportChoice } from "./report";
import { stateTitle } from "./states";

const listed = (names: string[]) => names.map(visible).join(", ");

export function ChosenWaits({ choice }: { choice: ReportChoice }) {
	const rows: [string, string, string][] = [
		["cause", choice.causes.map(stateTitle).join(", "), "why threads waited; none: any"],
		["for", listed(choice.objects), "a part of the name of the lock, file or peer; none: any"],
		["time", `${duration(choice.wait_ns)}, ${shareOf(choice.wait_ns, choice.all_wait_ns)} of the time of all waits`, exactNs(choice.wait_ns)],
		["of it idle", choice.idle_ns ? duration(choice.idle_ns) : "", "for nothing that was being done"],
		["waits", count(choice.waits), "how many are chosen"],
		["threads", listed(choice.waiters), "that waited, as far as their call paths were kept"],
		["without a name", choice.unnamed_ns ? duration(choice.unnamed_ns) : "", "time of waits with these causes for something without a name: they are not chosen"],
	];

	return <Section id="choice" title="Chosen waits"
		about="Lost time by cause, findings, what-if, flame graphs of lost parallelism and lock waits, locks, waits, files, sockets and the wait-dependency graph are of these. All else, the verdict too, is of all.">
		<dl class="figures">{rows.filter(([, figure]) => figure).map(([name, figure, tip]) => <div key={name} data-tip={tip}><dt>{name}</dt><dd>{figure}</dd></div>)}</dl>
		{choice.findings_left_out > 0 && <p class="muted">{plural(choice.findings_left_out, "finding")} about other waits or code {choice.findings_left_out === 1 ? "is" : "are"} left out.</p>}
	</Section>;
}
