// SPDX-License-Identifier: GPL-2.0-or-later
// Two trees of a flame graph in one: as wide as the longer of both, with what changed.
import { type FlameNode, flameRoot } from "./flame_tree";

function byName(node: FlameNode | undefined): Map<string, FlameNode> {
	return new Map(node?.children.map(child => [child.name, child]));
}

/** What is on one side only is taken with 0 for the other. scale: of times, so that they are of as long a run. */
export function flameDifference(first: FlameNode | undefined, second: FlameNode | undefined, scales: [number, number],
				parent: FlameNode | null = null): FlameNode {
	const like = (second ?? first)!, before = (first?.value ?? 0) * scales[0], after = (second?.value ?? 0) * scales[1];
	const node: FlameNode = { ...flameRoot(like.name), place: like.place, kind: like.kind, parent, depth: parent ? parent.depth + 1 : 0,
		before, changed: after - before, self: Math.max((first?.self ?? 0) * scales[0], (second?.self ?? 0) * scales[1]) };
	const [old, now] = [byName(first), byName(second)];

	node.children = [...new Set([...now.keys(), ...old.keys()])].map(name => flameDifference(old.get(name), now.get(name), scales, node))
		.sort((a, b) => b.value - a.value);
	node.value = node.children.reduce((sum, child) => sum + child.value, node.self);
	return node;
}
