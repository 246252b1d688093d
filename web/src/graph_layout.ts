// SPDX-License-Identifier: GPL-2.0-or-later
// Where the nodes of a graph are, in layers: dagre's work, on those nodes that are worth a look.
import dagre from "@dagrejs/dagre";
import { brief, cut, visible } from "./format";

export interface DrawnNode {
	at: number;			// in the list that was given
	label: string;
	text: string;			// its figure
	colour: string;
	tip: string;
	value: number;
	line: "solid" | "dashed" | "dotted";
	boldness: number | null;	// 1 to 5: how sure it is that it differs, and so how wide its edge is; 0: one side has none; null: time makes it wide
}

export interface Placed extends DrawnNode {
	x: number;
	y: number;
	width: number;
	height: number;
}

export interface PlacedEdge {
	points: { x: number; y: number }[];
	width: number;
	node: Placed;			// it leads to
}

const LABEL_CHARS_MAX = 34, CHAR_PX = 6.9, HEIGHT_PX = 40, EDGE_PX_MAX = 16;
/** By boldness, as in pictures of --dot. */
const LEVELS_PX = [1, 1, 2, 3.5, 5, 7];

/** The largest ones, and those above them. */
export function chosenNodes(values: number[], parents: (number | null)[], count_max: number, share_min: number): Set<number> {
	const root = values[0] || 1;
	const order = values.map((_, i) => i).filter(i => values[i] >= share_min * root).sort((a, b) => values[b] - values[a]);
	const chosen = new Set<number>();

	for (const first of order) {
		if (chosen.size >= count_max)
			break;
		for (let i: number | null = first; i !== null && !chosen.has(i); i = parents[i])
			chosen.add(i);
	}
	return chosen;
}

export function layOut(nodes: DrawnNode[], parents: (number | null)[]) {
	const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR", nodesep: 14, ranksep: 54, marginx: 12, marginy: 12 })
		.setDefaultEdgeLabel(() => ({}));
	const placed = new Map<number, Placed>();
	const most = Math.max(1, ...nodes.map(node => node.value));
	const names = new Set(nodes.map(node => node.at));

	for (const node of nodes) {
		const label = cut(brief(visible(node.label), LABEL_CHARS_MAX), LABEL_CHARS_MAX);
		const box = { ...node, label, x: 0, y: 0, height: HEIGHT_PX,
			width: Math.max(label.length, node.text.length) * CHAR_PX + 22 };
		placed.set(node.at, box);
		graph.setNode(String(node.at), box);
	}
	for (const node of nodes) {
		const parent = parents[node.at];
		if (parent !== null && names.has(parent))
			graph.setEdge(String(parent), String(node.at));
	}
	dagre.layout(graph);
	for (const node of placed.values()) {
		const { x, y } = graph.node(String(node.at)) as { x: number; y: number };
		node.x = x;
		node.y = y;
	}
	const edges: PlacedEdge[] = graph.edges().map(edge => {
		const node = placed.get(Number(edge.w))!;
		return { points: (graph.edge(edge) as { points: { x: number; y: number }[] }).points, node,
			width: node.boldness === null ? 1 + (EDGE_PX_MAX - 1) * node.value / most : LEVELS_PX[node.boldness] };
	});
	const { width = 1, height = 1 } = graph.graph() as { width?: number; height?: number };
	return { nodes: [...placed.values()], edges, width, height };
}
