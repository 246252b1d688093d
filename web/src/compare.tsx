// SPDX-License-Identifier: GPL-2.0-or-later
// What differs between two runs, or between slow and fast executions.
import { useMemo, useState } from "preact/hooks";
import { ns, words } from "./columns";
import { CopyCsv } from "./csv";
import { HowMany } from "./dependency";
import { CodeChanges } from "./compare_code";
import { ComparedFlames, type Side } from "./compare_flames";
import { ConfigurationSection } from "./configurations";
import { brief, count, duration, plural, share, signed, size, visible } from "./format";
import { GraphPicture } from "./graph";
import { chosenNodes, type DrawnNode } from "./graph_layout";
import { Section } from "./page";
import { colourOf, stateOfKind } from "./states";
import { type Column, Table } from "./table";
import type { Comparison, ComparisonNode, Difference } from "./types";

const NODES_FIRST = 30, REASON_CHARS = 160;
const CHANCE = "the probability of such a difference by chance";

function chance(p: number | null): string {
	return p === null ? "\u2013" : p < 0.001 ? "< 0.001" : p.toFixed(3);
}

function tellDifference(node: Difference, sides: [string, string]): string {
	return `${sides[0]}: ${duration(node.first.mean)}\n${sides[1]}: ${duration(node.second.mean)}\nchange ${signed(node.change)}${
		node.change_share === null ? "" : ` (${share(node.change_share)})`}${node.p === null ? "" : `\nby chance: p ${chance(node.p)}`}`;
}

type Figure = Comparison["figures"][number];

/** By its name: lost.lock, cpu.waiting and the like are times, read.bytes is a size, all others are counts. */
function unitOf({ name }: Figure): string {
	return /^(duration|unknown$|cpu\.|lost\.)/.test(name) ? "ns" : name.endsWith("bytes") ? "bytes" : "times";
}

function figureText(figure: Figure, value: number): string {
	switch (unitOf(figure)) {
	case "ns": return duration(value);
	case "bytes": return size(value);
	default: return Number.isInteger(value) ? count(value) : value.toFixed(2);
	}
}

const exactText = (figure: Figure, value: number) => `${Number.isInteger(value) ? count(value) : value.toFixed(2)} ${unitOf(figure)}`;

const figureColumns = (sides: [string, string]): Column<Figure>[] => [
	{ title: "figure", value: f => visible(f.name), isWide: true },
	{ title: visible(sides[0]), value: f => f.first.mean, show: f => figureText(f, f.first.mean), tip: f => exactText(f, f.first.mean) },
	{ title: visible(sides[1]), value: f => f.second.mean, show: f => figureText(f, f.second.mean), tip: f => exactText(f, f.second.mean) },
	{ title: "change", value: f => f.change_share, show: f => f.change_share === null ? "\u2013" : share(f.change_share),
		tip: f => `by ${f.change < 0 ? "\u2212" : ""}${figureText(f, Math.abs(f.change))}` },
	{ title: "p", value: f => f.p, show: f => chance(f.p), tip: () => CHANCE },
];
const figureUnit: Column<Figure>[] = [{ title: "unit", value: unitOf }];

const nodeColumns = (sides: [string, string]): Column<ComparisonNode>[] => [
	words("what", n => n.label, true), ns(visible(sides[0]), n => n.first.mean), ns(visible(sides[1]), n => n.second.mean),
	{ title: "change", unit: "ns", value: n => n.change, show: n => signed(n.change) },
	{ title: "p", value: n => n.p, show: n => chance(n.p), tip: () => CHANCE },
];

function drawn(node: ComparisonNode, at: number, sides: [string, string]): DrawnNode {
	return {
		at, label: node.label, colour: colourOf(stateOfKind(node.kind)), value: Math.max(node.first.mean, node.second.mean),
		text: `${duration(node.second.mean)} (${signed(node.change)})`,
		tip: `${visible(node.label)}\n${tellDifference(node, sides)}`,
		line: !node.in[1] ? "dashed" : !node.in[0] ? "dotted" : "solid", boldness: node.boldness,
	};
}

function Summary({ comparison }: { comparison: Comparison }) {
	const { sides, reasons, conditions, unsure } = comparison;

	return <section id="verdict" aria-labelledby="verdict-title">
		<div class="title"><h2 id="verdict-title">What differs</h2><CopyCsv of="reasons" make={() => ({
			titles: ["reason", `${sides[0]} (ns)`, `${sides[1]} (ns)`, "change (ns)", "p"],
			rows: reasons.map(r => [r.words, r.first.mean, r.second.mean, r.change, r.p]) })} /></div>
		<p class="verdict">{visible(sides[1])} compared with {visible(sides[0])}
			{comparison.is_per_second ? ", for each second" : ""}.</p>
		{!reasons.length && <p>No significant difference.</p>}
		<ol class="findings">{reasons.map((reason, i) => <li key={i} data-tip={tellDifference(reason, sides)}>
			<span class="share number">{signed(reason.change)}</span><p>{brief(visible(reason.words), REASON_CHARS)}</p></li>)}</ol>
		{unsure > 0 && <p class="muted">{plural(unsure, "more difference")} may be chance.</p>}
		{conditions.map((condition, i) => <p key={i}><b>{condition.holds ? "Holds" : "Does not hold"}:</b> {visible(condition.condition)}</p>)}
		{comparison.groups && <p>{plural(comparison.groups.length, "group")} of executions: {comparison.groups.map(group =>
			`${group.duration_ns.n} of ${duration(group.duration_ns.mean)}`).join(", ")}.</p>}
	</section>;
}

export function Compared({ comparison, first, second }: { comparison: Comparison; first: Side; second: Side }) {
	const { nodes: all, sides } = comparison;
	const [limit, setLimit] = useState(Math.min(NODES_FIRST, all.length));
	const parents = useMemo(() => all.map(node => node.parent), [all]);
	const nodes = useMemo(() => [...chosenNodes(all.map(node => Math.max(node.first.mean, node.second.mean)), parents, limit, 0)]
		.map(at => drawn(all[at], at, sides)), [all, limit]);
	const shown = useMemo(() => comparison.figures.filter(f => f.first.mean || f.second.mean), [comparison]);
	const columns = useMemo(() => nodeColumns(sides), [comparison]), figures = useMemo(() => figureColumns(sides), [comparison]);

	return <>
		<Summary comparison={comparison} />
		<Section id="figures" title="Figures" isHeavy about="Figures that are 0 on both sides are left out."><Table name="figures" columns={figures} rows={shown} copied={figureUnit} /></Section>
		{comparison.code && <CodeChanges code={comparison.code} sides={sides} />}
		{comparison.configurations && <ConfigurationSection configurations={comparison.configurations} />}
		<ComparedFlames comparison={comparison} first={first} second={second} />
		<Section id="graph" title="Dependency graph" isHeavy
			about={`Dashed: only in ${visible(sides[0])}; dotted: only in ${visible(sides[1])}; else the bolder, in five levels, the more significant the difference.`}>
			<GraphPicture nodes={nodes} parents={parents} tools={<HowMany shown={limit} all={all.length} onChange={setLimit} />}
				label={`Both graphs in one, ${plural(nodes.length, "node")}; all are in the table below.`} />
			<Table name="nodes" columns={columns} rows={all} sort={3} />
			{comparison.left_out ? <p class="muted">{plural(comparison.left_out, "further node")}, none of them with more time, are not shown.</p> : null}
		</Section>
	</>;
}
