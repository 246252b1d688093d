// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graphs of a report.
import { useMemo, useState } from "preact/hooks";
import { Flame } from "./flame";
import { flameOf } from "./flame_tree";
import { type Choice, Choices, Section, Swatch } from "./page";
import type { Report } from "./types";

export type Metric = "cmetric" | "lost" | "locks";

export const metrics: Choice<Metric>[] = [
	{ name: "cmetric", title: "CMetric" }, { name: "lost", title: "Lost parallelism" }, { name: "locks", title: "Lock waits" },
];
export const metricAbout: Record<Metric, string> = {
	cmetric: "CMetric of critical slices, by the call path where they ended.",
	lost: "Thread time lost in waits of any kind, by the call path of the wait. Idle waits are left out.",
	locks: "Thread time lost in waits for locks, by the call path of the wait.",
};
const isLock = (cause: string) => ["lock", "kernel-lock", "semaphore"].includes(cause);

export function metricRoot(report: Pick<Report, "paths" | "waits">, metric: Metric) {
	const waits = metric === "locks" ? report.waits.filter(wait => isLock(wait.cause)) : report.waits;

	return metric === "cmetric" ? flameOf("CMetric", report.paths.map(path => ({ frames: path.stack, value: path.cmetric_ns })))
		: flameOf(metric === "lost" ? "lost parallelism" : "lock waits", waits.map(wait =>
			({ frames: wait.stack, value: wait.lost_ns - wait.idle_ns })));
}

export function Flames({ report }: { report: Report }) {
	const [metric, choose] = useState<Metric>("cmetric");
	const root = useMemo(() => metricRoot(report, metric), [report, metric]);

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
