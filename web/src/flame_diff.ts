// SPDX-License-Identifier: GPL-2.0-or-later
// Two trees of a flame graph in one: as wide as the longer of both, with what changed.
import { type FlameNode, flameRoot } from "./flame_tree";

function byName(node: FlameNode | undefined): Map<string, FlameNode> {
	return new Map(node?.children.map(child => [child.name, child]));
}

/** The standard error of a share by samples that weigh differently: two are added on both sides (Agresti and Coull). */
function shareError(samples: number, all: number, effect: number): number {
	const share = (samples + 2) / (all + 4);

	return Math.sqrt(effect * share * (1 - share) / (all + 4));
}

/** By how much unequal weights make the variance larger (Kish). */
function designEffect(root: FlameNode): number {
	let sum = 0, squares = 0, samples = 0;
	const add = (node: FlameNode) => {
		const own = (node.samples ?? 0) - node.children.reduce((all, child) => all + (child.samples ?? 0), 0);

		if (own > 0) {
			sum += node.self;
			squares += node.self ** 2 / own;
			samples += own;
		}
		node.children.forEach(add);
	};

	add(root);
	return sum > 0 ? Math.max(1, samples * squares / sum ** 2) : 1;
}

interface Sampled {
	value: number;
	samples: number;
	effect: number;
}

/** Undefined: it does not stand on samples. */
function sampledOf(root: FlameNode): Sampled | undefined {
	return root.samples && root.value ? { value: root.value, samples: root.samples, effect: designEffect(root) } : undefined;
}

function addShares(node: FlameNode, first: FlameNode | undefined, second: FlameNode | undefined, of: [Sampled, Sampled]): void {
	const [before, after] = [(first?.value ?? 0) / of[0].value, (second?.value ?? 0) / of[1].value];

	node.share = { before, change: after - before, error: Math.hypot(shareError(first?.samples ?? 0, of[0].samples, of[0].effect),
		shareError(second?.samples ?? 0, of[1].samples, of[1].effect)) };
}

/** What is on one side only is taken with 0 for the other. scale: of times, so that they are of as long a run. */
export function flameDifference(first: FlameNode, second: FlameNode, scales: [number, number]): FlameNode {
	const sides = [sampledOf(first), sampledOf(second)] as const;

	return difference(first, second, scales, sides[0] && sides[1] && [sides[0], sides[1]], null);
}

function difference(first: FlameNode | undefined, second: FlameNode | undefined, scales: [number, number], of: [Sampled, Sampled] | undefined,
		    parent: FlameNode | null): FlameNode {
	const like = (second ?? first)!, before = (first?.value ?? 0) * scales[0], after = (second?.value ?? 0) * scales[1];
	const node: FlameNode = { ...flameRoot(like.name), place: like.place, kind: like.kind, parent, depth: parent ? parent.depth + 1 : 0,
		before, changed: after - before, self: Math.max((first?.self ?? 0) * scales[0], (second?.self ?? 0) * scales[1]) };
	const [old, now] = [byName(first), byName(second)];

	if (of)
		addShares(node, first, second, of);
	node.children = [...new Set([...now.keys(), ...old.keys()])].map(name => difference(old.get(name), now.get(name), scales, of, node))
		.sort((a, b) => b.value - a.value);
	node.value = node.children.reduce((sum, child) => sum + child.value, node.self);
	return node;
}
