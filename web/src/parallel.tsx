// SPDX-License-Identifier: GPL-2.0-or-later
// What all threads did over time, stacked. Drag to zoom, double-click to see all.
import { useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { CopyCsv } from "./csv";
import { duration } from "./format";
import { Swatch, useWidth } from "./page";
import { type Range, useRange, useSetRange } from "./range";
import { RangeButtons } from "./range_buttons";
import { colourOf, stateNames, stateTitle } from "./states";
import { colour, ThemeContext } from "./theme";
import { hideTip, showTip } from "./tip";

const HEIGHT_PX = 260, NS_PER_S = 1e9, UNIT = 1000;

export interface Layers {
	part_ns: number;
	whole_ns: number;	// the last part may be shorter than the others
	of: { state: string; threads: number[] }[];	// thousandths of threads, in each part
}

export function layersOf(part_ns: number, whole_ns: number, all: Record<string, number[]>): Layers {
	return {
		part_ns, whole_ns,
		of: stateNames.filter(name => all[name]?.some(n => n > 0)).map(state => ({ state, threads: all[state] })),
	};
}

/** What all threads of a layer add up to, in ns. */
function timeOf(layers: Layers, threads: number[]): number {
	return threads.reduce((sum, n, i) => sum + n / UNIT * Math.min(layers.part_ns, layers.whole_ns - i * layers.part_ns), 0);
}

/** Each layer on those below it, in threads; the last one first, so that the others are drawn over it. */
function stacked(layers: Layers, hidden: Set<string>): { times: number[]; shown: Layers["of"]; sums: number[][] } {
	const shown = layers.of.filter(layer => !hidden.has(layer.state));
	const parts = layers.of[0]?.threads.length ?? 0;
	const sum = new Array<number>(parts).fill(0);
	const sums = shown.map(layer => layer.threads.map((n, i) => sum[i] += n / UNIT));

	return { times: Array.from({ length: parts }, (_, i) => i * layers.part_ns / NS_PER_S), shown, sums };
}

function tellAt(layers: Layers, shown: Layers["of"], at: number): string {
	const lines = shown.filter(layer => layer.threads[at] > 0)
		.map(layer => `${stateTitle(layer.state)}: ${(layer.threads[at] / UNIT).toFixed(2)} threads`).reverse();

	return [`at ${duration(at * layers.part_ns)}, mean of ${duration(layers.part_ns)}`, ...lines].join("\n");
}

function options(layers: Layers, shown: Layers["of"], width: number, setRange: (range: Range | null) => void, onDrawn: () => void): uPlot.Options {
	const axis = { stroke: colour("fg"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
		font: "12px system-ui, sans-serif" };
	const onCursor = (plot: uPlot) => {
		const { idx, left, top } = plot.cursor, box = plot.over.getBoundingClientRect();

		if (idx === null || idx === undefined || left === undefined || left < 0)
			hideTip();
		else
			showTip(tellAt(layers, shown, idx), box.left + left, box.top + (top ?? 0));
	};
	const onSelect = (plot: uPlot) => {
		const { left, width: size } = plot.select;

		if (size > 3)
			setRange({ from_ns: Math.max(0, plot.posToVal(left, "x")) * NS_PER_S, to_ns: plot.posToVal(left + size, "x") * NS_PER_S });
		plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	};

	return {
		width, height: HEIGHT_PX, legend: { show: false },
		cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
		scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] } },
		axes: [
			{ ...axis, values: (_plot, values) => values.map(v => v ? duration(v * NS_PER_S) : "0"), space: 70 },
			{ ...axis, label: "threads", labelSize: 18, labelFont: axis.font,
				size: (_plot, values) => 22 + 8 * Math.max(1, ...(values ?? []).map(value => value.length)) },
		],
		series: [{}, ...shown.map(layer => ({
			label: stateTitle(layer.state), fill: colour(colourOf(layer.state)), stroke: colour(colourOf(layer.state)), width: 0.5,
			paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false },
		})).reverse()],
		hooks: { setCursor: [onCursor], setSelect: [onSelect], draw: [onDrawn] },
	};
}

function Legend({ layers, hidden, onToggle }: { layers: Layers; hidden: Set<string>; onToggle: (state: string) => void }) {
	return <div class="legend" role="group" aria-label="States that are shown">
		{layers.of.map(({ state, threads }) => <button type="button" key={state} aria-pressed={!hidden.has(state)}
			data-tip={`${duration(timeOf(layers, threads))} of thread time; click to show or hide`}
			onClick={() => onToggle(state)}><Swatch colour={colourOf(state)} />{stateTitle(state)}</button>)}
	</div>;
}

export function Parallel({ layers }: { layers: Layers }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const [hidden, setHidden] = useState(new Set<string>());
	const { theme } = useContext(ThemeContext);
	const range = useRange(), setRange = useSetRange();
	const plot = useRef<uPlot | null>(null);
	const stack = useMemo(() => stacked(layers, hidden), [layers, hidden]);
	const toggle = (state: string) => {
		const next = new Set(hidden);
		if (!next.delete(state))
			next.add(state);
		setHidden(next);
	};

	useLayoutEffect(() => {
		if (!width || !stack.shown.length)
			return;
		const box = ref.current!;
		const made = new uPlot(options(layers, stack.shown, width, setRange, () => box.setAttribute("data-drawn", "")),
			[stack.times, ...[...stack.sums].reverse()], box);
		plot.current = made;
		made.over.addEventListener("dblclick", () => setRange(null));
		made.over.addEventListener("pointerleave", hideTip);
		return () => {
			made.destroy();
			plot.current = null;
		};
	}, [stack, width, theme]);
	useLayoutEffect(() => {
		const { from_ns, to_ns } = range ?? { from_ns: 0, to_ns: layers.whole_ns };
		plot.current?.setScale("x", { min: from_ns / NS_PER_S, max: to_ns / NS_PER_S });
	}, [range, stack, width, theme]);

	return <>
		<div class="tools">
			<RangeButtons whole_ns={layers.whole_ns} />
			<CopyCsv of="parallelism over time" make={() => ({
				titles: ["since (ns)", ...layers.of.map(layer => `${stateTitle(layer.state)} (threads)`)],
				rows: stack.times.map((_, i) => [i * layers.part_ns, ...layers.of.map(layer => layer.threads[i] / UNIT)]),
			})} />
		</div>
		<div ref={ref} class="plot" data-tips="" role="img"
			aria-label={`Threads by what they did, stacked over ${duration(layers.whole_ns)}; the figures can be copied as CSV.`} />
		<Legend layers={layers} hidden={hidden} onToggle={toggle} />
	</>;
}
