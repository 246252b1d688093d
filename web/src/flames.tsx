// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graphs of a report.
import { useMemo, useState } from "preact/hooks";
import { Flame } from "./flame";
import { flameOf, type Weighed } from "./flame_tree";
import { plural } from "./format";
import { type Choice, Choices, Section, Swatch } from "./page";
import type { Report, ReportCode } from "./report";
import type { LeftOut } from "./types";

export type Metric = "cmetric" | "cpu" | "lost" | "locks";

export const metrics: Choice<Metric>[] = [
	{ name: "cmetric", title: "CMetric" }, { name: "cpu", title: "CPU time" }, { name: "lost", title: "Lost parallelism" }, { name: "locks", title: "Lock waits" },
];
export const metricAbout: Record<Metric, string> = {
	cmetric: "CMetric of the code that ran while few threads were active, by samples; or of critical slices, by the call path where they ended.",
	cpu: "CPU time of all threads, by samples.",
	lost: "Thread time lost in waits of any kind, by the call path of the wait. Idle waits are left out.",
	locks: "Thread time lost in waits for locks, by the call path of the wait.",
};
const isLock = (cause: string) => ["lock", "kernel-lock", "semaphore"].includes(cause);

const further = (count: number) => plural(count, "further call path");

/** isWhole: with any number of active threads, for runs whose N_min may differ. */
const codeNs = (code: ReportCode, of: { cpu_ns: number; cmetric_ns: number; critical_ns: number }, metric: Metric, isWhole = false) =>
	metric === "cpu" ? of.cpu_ns : code.is_critical && !isWhole ? of.critical_ns : of.cmetric_ns;

/** What the page does not have, in one frame. */
function restOf({ paths, totals, code }: Pick<Report, "paths" | "totals" | "code">, metric: Metric, leftOut?: LeftOut, isWhole = false): Weighed {
	const waits = (leftOut?.waits ?? []).filter(wait => metric === "lost" || isLock(wait.cause));

	if (metric === "cpu" || (metric === "cmetric" && code.samples)) {
		const known = code.stacks.reduce((sum, stack) => sum + codeNs(code, stack, metric, isWhole), 0);

		return { frames: [], name: "further code, or unknown", value: Math.max(0, codeNs(code, code, metric, isWhole) - known),
			samples: Math.max(0, code.samples - code.stacks.reduce((sum, stack) => sum + stack.samples, 0)) };
	}
	if (metric === "cmetric")
		return { frames: [], name: `${further(totals.paths - paths.length)}, or unknown`, value: totals.paths > paths.length
			? totals.critical_cmetric_ns - paths.reduce((sum, path) => sum + path.cmetric_ns, 0) : 0 };
	return { frames: [], name: further(waits.reduce((sum, wait) => sum + wait.waits, 0)), value: waits.reduce((sum, wait) => sum + wait.wait_ns, 0) };
}

export function metricRoot(report: Pick<Report, "paths" | "waits" | "totals" | "code">, metric: Metric, leftOut?: LeftOut, isWhole = false) {
	const waits = metric === "locks" ? report.waits.filter(wait => isLock(wait.cause)) : report.waits;
	const isCode = metric === "cpu" || (metric === "cmetric" && report.code.samples > 0);
	const weighed: Weighed[] = isCode ? report.code.stacks.map(stack => ({ frames: stack.stack, value: codeNs(report.code, stack, metric, isWhole), samples: stack.samples }))
		: metric === "cmetric" ? report.paths.map(path => ({ frames: path.stack, value: path.cmetric_ns }))
		: waits.map(wait => ({ frames: wait.stack, value: wait.wait_ns - wait.idle_ns }));

	return flameOf({ cmetric: "CMetric", cpu: "CPU time", lost: "lost parallelism", locks: "lock waits" }[metric], [...weighed, restOf(report, metric, leftOut, isWhole)]);
}

export function Flames({ report, leftOut }: { report: Report; leftOut?: LeftOut }) {
	const [metric, choose] = useState<Metric>("cmetric");
	const root = useMemo(() => metricRoot(report, metric, leftOut), [report, metric, leftOut]);

	return <Section id="flames" title="Flame graphs" isHeavy
		tools={<Choices label="What widths are" of={metrics} chosen={metric} onChoose={choose} />}>
		<p class="about">{metricAbout[metric]}</p>
		<div class="legend">
			<span><Swatch colour="f-own" />the program's own</span><span><Swatch colour="f-library" />libraries</span>
			<span><Swatch colour="f-kernel" />kernel</span>
		</div>
		<Flame title={metrics.find(m => m.name === metric)!.title} root={root} />
	</Section>;
}
