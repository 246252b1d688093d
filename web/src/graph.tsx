// SPDX-License-Identifier: GPL-2.0-or-later
// A graph drawn: drag moves it, the buttons, + and - or the wheel with Ctrl bring it nearer.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type DrawnNode, layOut, type Placed, type PlacedEdge } from "./graph_layout";
import { useIsPrinting, useWidth } from "./page";

const HEIGHT_PX_MIN = 200, HEIGHT_PX_MAX = 720, SCALE_FIRST_MIN = 0.6, FACTOR = 1.25, STEP_PX = 60, SCALE_MIN = 0.05, SCALE_MAX = 4;

interface View {
	x: number;
	y: number;
	scale: number;
}

function curve(points: PlacedEdge["points"]): string {
	const [first, ...rest] = points;
	let path = `M${first.x} ${first.y}`;

	for (let i = 0; i < rest.length - 1; i++) {
		const [at, next] = [rest[i], rest[i + 1]];
		const end = i === rest.length - 2 ? next : { x: (at.x + next.x) / 2, y: (at.y + next.y) / 2 };
		path += ` Q${at.x} ${at.y} ${end.x} ${end.y}`;
	}
	return rest.length === 1 ? `${path} L${rest[0].x} ${rest[0].y}` : path;
}

function NodeBox({ node }: { node: Placed }) {
	return <g class={`node is-${node.line} bold-${node.boldness ?? 0}`} data-tip={node.tip}
		transform={`translate(${node.x - node.width / 2} ${node.y - node.height / 2})`}>
		<rect width={node.width} height={node.height} rx="6" />
		<rect width="5" height={node.height} rx="2" class={`mark ${node.colour}`} />
		<text x="13" y="16">{node.label}</text>
		<text x="13" y="32" class="figure">{node.text}</text>
	</g>;
}

/** All of it if it can be read then, and never larger than it was made. */
function fitted(width: number, size: { width: number; height: number }): View {
	const scale = Math.min(width / size.width, HEIGHT_PX_MAX / size.height);

	return { x: 0, y: 0, scale: Math.min(1, Math.max(SCALE_FIRST_MIN, scale)) };
}

/** All of it, however small: nobody can move it on paper. */
function onPaper(width: number, size: { width: number; height: number }): View {
	return { x: 0, y: 0, scale: Math.min(1, width / size.width, HEIGHT_PX_MAX / size.height) };
}

export function GraphPicture({ nodes, parents, label, tools }:
	{ nodes: DrawnNode[]; parents: (number | null)[]; label: string; tools: ComponentChildren }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const layout = useMemo(() => layOut(nodes, parents), [nodes]);
	const [seen, setView] = useState<View>({ x: 0, y: 0, scale: 1 }), isPrinted = useIsPrinting();
	const view = isPrinted ? onPaper(width, layout) : seen;
	const drag = useRef<{ x: number; y: number } | null>(null);
	const svg = useRef<SVGSVGElement>(null);
	const height = Math.min(HEIGHT_PX_MAX, Math.max(HEIGHT_PX_MIN, layout.height * fitted(width, layout).scale));
	const zoom = (factor: number, x = width / 2, y = height / 2) => setView(now => {
		const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, now.scale * factor)), by = scale / now.scale;
		return { scale, x: x - (x - now.x) * by, y: y - (y - now.y) * by };
	});
	const move = (x: number, y: number) => setView(now => ({ ...now, x: now.x + x, y: now.y + y }));
	const fit = () => setView(fitted(width, layout));
	const keys: Record<string, () => void> = {
		"+": () => zoom(FACTOR), "=": () => zoom(FACTOR), "-": () => zoom(1 / FACTOR), "0": fit,
		ArrowLeft: () => move(STEP_PX, 0), ArrowRight: () => move(-STEP_PX, 0), ArrowUp: () => move(0, STEP_PX), ArrowDown: () => move(0, -STEP_PX),
	};

	useEffect(fit, [layout, width]);
	useEffect(() => {	// by hand: the page must not scroll, and handlers of wheels are passive otherwise
		const onWheel = (event: WheelEvent) => {
			if (!event.ctrlKey && !event.metaKey)
				return;
			const box = svg.current!.getBoundingClientRect();
			event.preventDefault();
			zoom(event.deltaY < 0 ? FACTOR : 1 / FACTOR, event.clientX - box.left, event.clientY - box.top);
		};
		svg.current!.addEventListener("wheel", onWheel, { passive: false });
	}, []);
	return <div ref={ref} class="graph">
		<div class="tools no-print"><div class="choices" role="group" aria-label="Size of the graph">
			<button type="button" aria-label="Nearer" data-tip="Nearer (+)" onClick={() => zoom(FACTOR)}>+</button>
			<button type="button" aria-label="Farther" data-tip="Farther (-)" onClick={() => zoom(1 / FACTOR)}>&minus;</button>
			<button type="button" data-tip="All of it (0)" onClick={fit}>Fit</button>
		</div>{tools}</div>
		<svg ref={svg} class="graph" width={width} height={height} viewBox={`0 0 ${width || 1} ${height}`} role="img" tabindex={0}
			aria-label={label}
			onKeyDown={event => { if (keys[event.key]) { keys[event.key](); event.preventDefault(); } }}
			onPointerDown={event => { drag.current = { x: event.clientX, y: event.clientY }; event.currentTarget.setPointerCapture(event.pointerId); }}
			onPointerMove={event => {
				if (!drag.current)
					return;
				move(event.clientX - drag.current.x, event.clientY - drag.current.y);
				drag.current = { x: event.clientX, y: event.clientY };
			}}
			onPointerUp={() => { drag.current = null; }}>
			<g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
				{layout.edges.map((edge, i) => <path key={i} d={curve(edge.points)} class={`edge is-${edge.node.line}`}
					stroke-width={edge.width} data-tip={edge.node.tip} />)}
				{layout.nodes.map(node => <NodeBox key={node.at} node={node} />)}
			</g>
		</svg>
	</div>;
}
