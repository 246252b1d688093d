// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks with a weight, merged into a tree: what a flame graph draws.
import { isPlumbing } from "./folds";
import { frameName, framePlace } from "./format";
import type { ReportFrame } from "./report";

export interface FlameNode {
	name: string;
	place: string;
	kind: "own" | "library" | "kernel" | "none";
	value: number;			// with all below it
	self: number;
	children: FlameNode[];
	parent: FlameNode | null;
	depth: number;
	changed?: number;		// differential: by how much
	before?: number;
	samples?: number;		// that it stands on; undefined: it does not
	share?: ShareChange;		// differential, of what stands on samples
}

/** The share of all: on the first side, and by how much it is another one on the second; error: standard. */
export interface ShareChange {
	before: number;
	change: number;
	error: number;
}

function kindOf(frame: ReportFrame): FlameNode["kind"] {
	if (frame.is_kernel)
		return "kernel";
	return isPlumbing(frame) ? "library" : "own";
}

export function flameRoot(name: string): FlameNode {
	return { name, place: "", kind: "none", value: 0, self: 0, children: [], parent: null, depth: 0 };
}

function childOf(node: FlameNode, index: Map<FlameNode, Map<string, FlameNode>>, name: string,
		 make: () => FlameNode): FlameNode {
	let children = index.get(node);

	if (!children)
		index.set(node, children = new Map());
	let child = children.get(name);
	if (!child) {
		children.set(name, child = make());
		node.children.push(child);
	}
	return child;
}

function sortAll(node: FlameNode): void {
	node.children.sort((a, b) => b.value - a.value);
	node.children.forEach(sortAll);
}

export interface Weighed {
	frames: ReportFrame[];		// innermost first
	value: number;
	samples?: number;
	name?: string;			// without frames: why there are none
}

export function flameOf(title: string, stacks: Weighed[]): FlameNode {
	const root = flameRoot(title);
	const index = new Map<FlameNode, Map<string, FlameNode>>();

	const addSamples = (node: FlameNode, samples?: number) => {
		if (samples !== undefined)
			node.samples = (node.samples ?? 0) + samples;
	};

	for (const { frames, value, samples, name: words = "no stack" } of stacks) {
		let node = root;

		if (!(value > 0))
			continue;
		root.value += value;
		addSamples(root, samples);
		for (let i = frames.length - 1; i >= 0; i--) {
			const frame = frames[i], parent: FlameNode = node, name = frameName(frame);

			node = childOf(parent, index, name, () => ({
				...flameRoot(name), place: framePlace(frame), kind: kindOf(frame), parent, depth: parent.depth + 1,
			}));
			node.value += value;
			addSamples(node, samples);
		}
		if (!frames.length) {
			node = childOf(root, index, words, () => ({ ...flameRoot(words), parent: root, depth: 1 }));
			node.value += value;
		}
		node.self += value;
	}
	sortAll(root);
	return root;
}

export interface FlameBox {
	node: FlameNode;
	x: number;			// both of the whole width
	width: number;
	row: number;
}

/** The nodes above the focus at full width, and those below it that are wide enough to be seen. */
export function flameBoxes(focus: FlameNode, width_min: number): FlameBox[] {
	const boxes: FlameBox[] = [];
	const place = (node: FlameNode, x: number, width: number) => {
		if (width < width_min)
			return;
		boxes.push({ node, x, width, row: node.depth });
		let at = x;
		for (const child of node.children) {
			const part = node.value ? width * child.value / node.value : 0;
			place(child, at, part);
			at += part;
		}
	};

	for (let node = focus.parent; node; node = node.parent)
		boxes.push({ node, x: 0, width: 1, row: node.depth });
	place(focus, 0, 1);
	return boxes;
}

export function flameRows(root: FlameNode): { stack: string; node: FlameNode }[] {
	const rows: { stack: string; node: FlameNode }[] = [];
	const add = (node: FlameNode, above: string) => {
		const stack = above ? `${above};${node.name}` : node.name;

		rows.push({ stack, node });
		node.children.forEach(child => add(child, stack));
	};

	add(root, "");
	return rows;
}
