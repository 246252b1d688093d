// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph, its root at the top: widths are time. Click or Enter goes into a frame, Escape back out;
// arrow keys go from frame to frame.
import { useMemo, useState } from "preact/hooks";
import { CopyCsv } from "./csv";
import { type FlameBox, flameBoxes, type FlameNode, flameRows } from "./flame_tree";
import { brief, cut, duration, plural, share, shareOf } from "./format";
import { useWidth } from "./page";

const ROW_PX = 19, CHAR_PX = 6.6, BOX_PX_MIN = 0.7;

interface FlameProps {
	title: string;			// "CMetric by call path"
	root: FlameNode;
	colour?: (node: FlameNode) => { name: string; opacity: number };
	tell?: (node: FlameNode) => string;
	figures?: Figure[];		// in the CSV
}

export interface Figure {
	title: string;			// with its unit
	value: (node: FlameNode) => number;
}

const ownFigures: Figure[] = [{ title: "time (ns)", value: node => node.value }, { title: "in itself (ns)", value: node => node.self }];

function colourOfKind(node: FlameNode) {
	let hash = 0;

	for (let i = 0; i < node.name.length; i++)
		hash = (hash * 31 + node.name.charCodeAt(i)) % 97;
	return { name: `f-${node.kind}`, opacity: 0.62 + 0.38 * hash / 97 };
}

function tellOf(node: FlameNode, root: FlameNode): string {
	const own = node.self ? `\n${duration(node.self)} in itself` : "";

	return `${node.name}${node.place ? "\n" + node.place : ""}\n${duration(node.value)}, ${shareOf(node.value, root.value)} of all${own}`;
}

function neighbour(node: FlameNode, key: string): FlameNode | null {
	const among = node.parent?.children ?? [], at = among.indexOf(node);

	switch (key) {
	case "ArrowDown": return node.children[0] ?? null;
	case "ArrowUp": return node.parent;
	case "ArrowLeft": return among[at - 1] ?? null;
	case "ArrowRight": return among[at + 1] ?? null;
	}
	return null;
}

function isFound(node: FlameNode, words: string): boolean {
	return words !== "" && node.name.toLowerCase().includes(words);
}

/** Of frames below each other only the outermost counts. */
function foundValue(node: FlameNode, words: string): number {
	return isFound(node, words) ? node.value : node.children.reduce((sum, child) => sum + foundValue(child, words), 0);
}

function Box({ box, width, props, words, isAt, onOpen }:
	{ box: FlameBox; width: number; props: FlameProps; words: string; isAt: boolean; onOpen: (node: FlameNode) => void }) {
	const { node } = box;
	const { name, opacity } = (props.colour ?? colourOfKind)(node);
	const room = Math.floor((box.width * width - 6) / CHAR_PX);
	const tip = (props.tell ?? (n => tellOf(n, props.root)))(node);

	return <g data-tip={tip} class={`frame ${isAt ? "is-at" : ""} ${isFound(node, words) ? "is-found" : ""}`} onClick={() => onOpen(node)}>
		<rect x={box.x * width} y={box.row * ROW_PX} width={Math.max(BOX_PX_MIN, box.width * width - 0.6)} height={ROW_PX - 1}
			rx="2" class={name} fill-opacity={opacity} />
		{room >= 3 && <text x={box.x * width + 4} y={box.row * ROW_PX + 13}>{cut(brief(node.name, room), room)}</text>}
	</g>;
}

export function Flame(props: FlameProps) {
	return props.root.value ? <FlamePicture {...props} /> : <p class="muted">No data.</p>;
}

function FlamePicture(props: FlameProps) {
	const { root, title, figures = ownFigures } = props;
	const { ref, width } = useWidth<HTMLDivElement>();
	const [seen, setSeen] = useState({ root, focus: root, at: root });
	const { focus, at } = seen.root === root ? seen : { focus: root, at: root };
	const [words, setWords] = useState("");
	const wanted = words.trim().toLowerCase();
	const boxes = useMemo(() => width ? flameBoxes(focus, BOX_PX_MIN / width) : [], [focus, width]);
	const rows = 1 + boxes.reduce((most, box) => Math.max(most, box.row), 0);
	const open = (node: FlameNode) => setSeen({ root, focus: node, at: node });

	const onKey = (event: KeyboardEvent) => {
		const next = neighbour(at, event.key);

		if (next)
			setSeen({ root, focus, at: next });
		else if (event.key === "Enter")
			open(at);
		else if (event.key === "Escape")
			open(root);
		if (event.key.startsWith("Arrow"))
			event.preventDefault();
	};

	return <div class="flame">
		<div class="tools">
			<input type="search" class="no-print" placeholder="Search frames" aria-label={`Search frames of ${title}`} value={words}
				onInput={event => setWords(event.currentTarget.value)} />
			<span class="muted" role="status">{wanted ? `${share(foundValue(root, wanted) / root.value)} found` : ""}</span>
			{focus !== root && <button type="button" class="no-print" onClick={() => open(root)}>Show all</button>}
			<CopyCsv of={title} make={() => ({
				titles: ["stack", ...figures.map(figure => figure.title)],
				rows: flameRows(root).map(({ stack, node }) => [stack, ...figures.map(figure => figure.value(node))]),
			})} />
		</div>
		<div ref={ref} class="drawn">
			<svg class="flame" width={width} height={rows * ROW_PX} role="img" tabindex={0} onKeyDown={onKey}
				aria-label={`Flame graph: ${title}, ${duration(root.value)} in total. Arrow keys move between frames, Enter zooms in.`}>
				{boxes.map((box, i) => <Box key={i} box={box} width={width} props={props} words={wanted} isAt={box.node === at}
					onOpen={open} />)}
			</svg>
		</div>
		<p class="status muted" role="status">{tellOf(at, root).replace(/\n/g, " \u00b7 ")}
			{at.children.length ? `, ${plural(at.children.length, "frame")} below` : ""}</p>
	</div>;
}
