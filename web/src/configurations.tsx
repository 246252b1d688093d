// SPDX-License-Identifier: GPL-2.0-or-later
// CMetric of groups of threads over several runs: how the stages of a program share the load.
import { useMemo, useState } from "preact/hooks";
import { type Bar, Bars } from "./bars";
import { words } from "./columns";
import { count, duration, plural, shareOf, visible } from "./format";
import { type Choice, Choices, Section, Swatch } from "./page";
import { type Column, Table } from "./table";
import type { Configurations, ConfigurationGroup, ConfigurationPart } from "./types";

type Shown = "group" | "mean" | "most";

const COLOURS = 8;
const choices: Choice<Shown>[] = [{ name: "group", title: "Whole group" }, { name: "mean", title: "Mean of a thread" }, { name: "most", title: "Largest thread" }];

function figureOf(part: ConfigurationPart, shown: Shown): number {
	switch (shown) {
	case "group": return part.cmetric_ns;
	case "mean": return part.threads ? part.cmetric_ns / part.threads : 0;
	case "most": return part.most_ns;
	}
}

function barsOf({ traces, groups }: Configurations, shown: Shown): Bar[] {
	return groups.flatMap(group => traces.map((trace, i) => {
		const part = group.parts[i], value = figureOf(part, shown);

		return {
			name: `${visible(group.name)} (${i + 1})`, text: part.threads ? `${duration(value)}, ${plural(part.threads, "thread")}` : "none",
			tip: `${visible(group.name)}\n${visible(trace.name)}\n${duration(part.cmetric_ns)}, ${shareOf(part.cmetric_ns, trace.cmetric_ns)} of all\n${
				plural(part.threads, "thread")}`,
			parts: [{ value, colour: `k-${i % COLOURS}` }],
		};
	}));
}

function columnsOf({ traces }: Configurations): Column<ConfigurationGroup>[] {
	return [words("group", group => group.name, true), ...traces.flatMap((trace, i): Column<ConfigurationGroup>[] => [
		{ title: `${i + 1}: CMetric`, unit: "ns", value: group => group.parts[i].cmetric_ns, show: group => duration(group.parts[i].cmetric_ns) },
		{ title: `${i + 1}: share`, value: group => trace.cmetric_ns ? group.parts[i].cmetric_ns / trace.cmetric_ns : 0,
			show: group => shareOf(group.parts[i].cmetric_ns, trace.cmetric_ns), tip: group => shareOf(group.parts[i].cmetric_ns, trace.cmetric_ns) },
		{ title: `${i + 1}: threads`, unit: "threads", value: group => group.parts[i].threads, show: group => count(group.parts[i].threads) },
	])];
}

export function ConfigurationSection({ configurations }: { configurations: Configurations }) {
	const { traces } = configurations;
	const [shown, choose] = useState<Shown>("group");
	const bars = useMemo(() => barsOf(configurations, shown), [configurations, shown]);
	const columns = useMemo(() => columnsOf(configurations), [configurations]);
	const max = bars.reduce((most, bar) => Math.max(most, bar.parts[0].value), 0);

	return <Section id="groups" title="Groups of threads" isHeavy about="CMetric by group of threads in each run: exact. In a balanced program its threads have the same."
		tools={<Choices label="What bars are" of={choices} chosen={shown} onChoose={choose} />}>
		<div class="legend">{traces.map((trace, i) => <span key={i}><Swatch colour={`k-${i % COLOURS}`} />{i + 1}: {visible(trace.name)}, {duration(trace.wall_ns)}</span>)}</div>
		<Bars bars={bars} max={max} label={`CMetric of ${plural(configurations.groups.length, "group")} of threads in ${plural(traces.length, "run")}; all are in the table below.`} />
		<Table name="groups" columns={columns} rows={configurations.groups} />
	</Section>;
}
