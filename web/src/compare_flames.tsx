// SPDX-License-Identifier: GPL-2.0-or-later
// Differential flame graphs: of who and what was waited for, and of two runs also of their call paths.
import { useMemo, useState } from "preact/hooks";
import { Flame } from "./flame";
import { flameDifference } from "./flame_diff";
import { type FlameNode, flameRoot } from "./flame_tree";
import { type Metric, metricAbout, metricRoot, metrics } from "./flames";
import { duration, signed, visible } from "./format";
import { type Choice, Choices, Section, Swatch } from "./page";
import type { Report } from "./report";
import type { Comparison, ComparisonNode, LeftOut } from "./types";

type Shown = Metric | "waits";

const NS_PER_S = 1e9;
const ABOUT = "What and whom threads waited for, and what those did meanwhile.";
const CMETRIC_ABOUT = "CMetric of the code that ran, by samples, with any number of active threads; or of critical slices, by the call path where they ended.";
const choices: Choice<Shown>[] = [{ name: "waits", title: "Dependencies" }, ...metrics];

function differential(nodes: ComparisonNode[]): FlameNode {
	const flames: FlameNode[] = nodes.map(node => ({
		...flameRoot(visible(node.label)), value: Math.max(node.first.mean, node.second.mean), changed: node.change, before: node.first.mean,
	}));

	nodes.forEach((node, i) => {
		if (node.parent === null)
			return;
		const parent = flames[node.parent];
		flames[i].parent = parent;
		flames[i].depth = parent.depth + 1;
		parent.children.push(flames[i]);
	});
	for (const flame of flames) {	// parts of both sides may be more than either: they share what there is
		const below = flame.children.reduce((sum, child) => sum + child.value, 0);
		flame.self = Math.max(0, flame.value - below);
		flame.children.sort((a, b) => b.value - a.value);
	}
	for (let i = flames.length - 1; i >= 0; i--)
		flames[i].value = Math.max(flames[i].value, flames[i].children.reduce((sum, child) => sum + child.value, 0));
	return flames[0] ?? flameRoot("nothing");
}

/** Shares differ for sure at twice their standard error. */
const isUnsure = ({ share }: FlameNode) => share !== undefined && Math.abs(share.change) <= 2 * share.error;

/** By the change of the share of all, where samples tell it; else by that of time. */
function changeColour(root: FlameNode) {
	return (node: FlameNode) => {
		const change = node.share ? node.share.change : (node.changed ?? 0) / (root.value || 1);
		const much = Math.min(1, Math.abs(change) / 0.2);
		return { name: isUnsure(node) || Math.abs(change) < 0.002 ? "f-same" : change > 0 ? "f-more" : "f-less", opacity: 0.25 + 0.75 * much };
	};
}

function tellShare(node: FlameNode): string {
	if (!node.share)
		return "";
	const { before, change, error } = node.share, points = (part: number) => (100 * part).toFixed(1);

	return `\nshare ${points(before)}\u00a0% \u2192 ${points(before + change)}\u00a0% (\u00b1 ${points(error)})${isUnsure(node) ? ": may be chance" : ""}`;
}

/** One of two runs that are compared. */
export interface Side {
	report?: Report;		// undefined: it is not there, or not yet
	leftOut?: LeftOut;
}

function rootOf(comparison: Comparison, shown: Shown, first: Side, second: Side): FlameNode {
	if (shown === "waits" || !first.report || !second.report)
		return differential(comparison.nodes);
	const scale = (report: Report) => comparison.is_per_second ? NS_PER_S / (report.target.wall_ns || 1) : 1;

	return flameDifference(metricRoot(first.report, shown, first.leftOut, true), metricRoot(second.report, shown, second.leftOut, true),
		[scale(first.report), scale(second.report)]);
}

export function ComparedFlames({ comparison, first, second }: { comparison: Comparison; first: Side; second: Side }) {
	const [shown, choose] = useState<Shown>("waits");
	const root = useMemo(() => rootOf(comparison, shown, first, second), [comparison, shown, first.report, second.report, first.leftOut,
		second.leftOut]);
	const colour = useMemo(() => changeColour(root), [root]);
	const [before, after] = comparison.sides.map(visible);

	return <Section id="flames" title="Differential flame graphs" isHeavy
		tools={first.report && second.report && <Choices label="What widths are" of={choices} chosen={shown} onChoose={choose} />}>
		<p class="about">{shown === "waits" ? ABOUT : shown === "cmetric" ? CMETRIC_ABOUT : metricAbout[shown]} As wide as the longer of both sides.{
			root.share && " Colours are changes of the share of all; grey is what samples cannot tell."}</p>
		<div class="legend">
			<span><Swatch colour="f-more" />more in {after}</span><span><Swatch colour="f-less" />less</span>
			<span><Swatch colour="f-same" />the same</span>
		</div>
		<Flame title={choices.find(choice => choice.name === shown)!.title} root={root} colour={colour} figures={[
			{ title: `${before} (ns)`, value: node => node.before ?? 0 },
			{ title: `${after} (ns)`, value: node => (node.before ?? 0) + (node.changed ?? 0) },
			{ title: "change (ns)", value: node => node.changed ?? 0 }]}
			tell={node => `${node.name}\n${before}: ${duration(node.before ?? 0)}\n${after}: ${
				duration((node.before ?? 0) + (node.changed ?? 0))}\nchange ${signed(node.changed ?? 0)}${tellShare(node)}`} />
	</Section>;
}
