// SPDX-License-Identifier: GPL-2.0-or-later
// Who and what was waited for: the graph, and its nodes as a table.
import { useMemo, useState } from "preact/hooks";
import { ns, times, words } from "./columns";
import { count, duration, plural, shareOf, visible } from "./format";
import { GraphPicture } from "./graph";
import { chosenNodes, type DrawnNode } from "./graph_layout";
import { Section } from "./page";
import type { ResultGraph, ResultGraphNode } from "./report";
import { colourOf, stateOfKind } from "./states";
import { type Column, Table } from "./table";

const NODES_FIRST = 30, NODES_MAX = 300;

interface Row extends ResultGraphNode {
	at: number;
	below: string;
}

const columns: Column<Row>[] = [
	words("what", n => n.label, true), words("below", n => n.below), { title: "kind", value: n => n.kind }, ns("time", n => n.ns),
	times("times", n => n.count), ns("longest", n => n.max_ns),
];
const edges: Column<Row>[] = [{ title: "node", value: n => n.at }, { title: "below node", value: n => n.parent }];

function drawn(node: ResultGraphNode, at: number, whole: number): DrawnNode {
	const more = node.is_cycle ? "\nwhat it did is shown above" : node.is_cut ? "\ncut off here" : "";

	return {
		at, label: node.label, colour: colourOf(node.cause ?? stateOfKind(node.kind)), value: node.ns, line: "solid", boldness: null,
		text: `${duration(node.ns)} \u00b7 ${shareOf(node.ns, whole)}${node.is_cycle ? " \u21ba" : ""}`,
		tip: `${visible(node.label)}\n${duration(node.ns)}, ${shareOf(node.ns, whole)} of all\n${plural(node.count, "time")}, ${
			duration(node.max_ns)} max${more}`,
	};
}

export function HowMany({ shown, all, onChange }: { shown: number; all: number; onChange: (count: number) => void }) {
	return <label class="no-print">Nodes <input type="range" min="5" max={Math.min(all, NODES_MAX)} value={shown}
		onChange={event => onChange(Number(event.currentTarget.value))} /> {count(shown)} of {count(all)}</label>;
}

export function Dependency({ graph }: { graph: ResultGraph }) {
	const [limit, setLimit] = useState(Math.min(NODES_FIRST, graph.nodes.length));
	const whole = graph.nodes[0]?.ns ?? 0;
	const parents = useMemo(() => graph.nodes.map(node => node.parent), [graph]);
	const nodes = useMemo(() => [...chosenNodes(graph.nodes.map(node => node.ns), parents, limit, 0)]
		.map(at => drawn(graph.nodes[at], at, whole)), [graph, limit]);
	const rows = useMemo(() => graph.nodes.map((node, at) => ({ ...node, at, below: node.parent === null ? "" : graph.nodes[node.parent].label })), [graph]);

	return <Section id="graph" title="Dependency graph" isHeavy
		about="What and whom threads waited for, and what those did meanwhile. Edges are as wide as the time that they stand for.">
		{graph.lost_ns ? <p>This is the thread, and the stretch of its time, that lost most: {duration(graph.lost_ns)}.</p> : null}
		{nodes.length ? <GraphPicture nodes={nodes} parents={parents}
			tools={<HowMany shown={limit} all={graph.nodes.length} onChange={setLimit} />}
			label={`Dependency graph of ${plural(nodes.length, "node")}; all of them are in the table below.`} /> : <p class="muted">No thread was alive in this time.</p>}
		<Table name="nodes" columns={columns} rows={rows} sort={3} copied={edges} />
		{graph.left_out ? <p class="muted">{plural(graph.left_out, "further node")}, none of them longer, are not shown.</p> : null}
	</Section>;
}
