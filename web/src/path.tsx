// SPDX-License-Identifier: GPL-2.0-or-later
// The critical path: what the first thread could not have gone on without, moment by moment.
import { useContext, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { CopyCsv } from "./csv";
import { ns, times, words } from "./columns";
import { duration, plural, shareOf, visible } from "./format";
import { Section, useWidth } from "./page";
import { type Range, useRange } from "./range";
import { RangeButtons } from "./range_buttons";
import type { ResultPath, ResultPathPart, ResultPathSum } from "./report";
import { colourOf, stateOfKind } from "./states";
import { type Column, Table } from "./table";
import { colour, ThemeContext } from "./theme";
import { hideTip, showTip } from "./tip";

const ROW_PX = 20, DEPTH_MAX = 12;

const sumColumns: Column<ResultPathSum>[] = [
	words("who", s => s.who, true), words("did what", s => s.what, true), words("ended by", s => s.end), ns("time", s => s.ns),
	times("times", s => s.count), ns("longest", s => s.max_ns),
];

/** The time that the other charts show, so that all of them show the same. */
interface Frame {
	begin_ns: number;		// 0: unknown
	whole_ns: number;
}

/** The first part that ends behind a time. */
function partAt(parts: ResultPathPart[], time_ns: number): number {
	let low = 0, high = parts.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (parts[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function draw(canvas: HTMLCanvasElement, parts: ResultPathPart[], begin_ns: number, range: Range, width: number, rows: number): void {
	const context = canvas.getContext("2d")!, ratio = devicePixelRatio || 1, per_ns = width / (range.to_ns - range.from_ns);
	const colours = new Map<string, string>();

	canvas.width = width * ratio;
	canvas.height = rows * ROW_PX * ratio;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	for (let i = partAt(parts, begin_ns + range.from_ns); i < parts.length; i++) {
		const part = parts[i], name = colourOf(stateOfKind(part.kind));
		if (part.begin_ns >= begin_ns + range.to_ns)
			break;
		if (!colours.has(name))
			colours.set(name, colour(name));
		context.fillStyle = colours.get(name)!;
		context.fillRect((part.begin_ns - begin_ns - range.from_ns) * per_ns, Math.min(part.depth, DEPTH_MAX) * ROW_PX,
			Math.max(0.5, (part.end_ns - part.begin_ns) * per_ns), ROW_PX - 3);
	}
	canvas.setAttribute("data-drawn", "");
}

function tellOf(part: ResultPathPart, begin_ns: number): string {
	return [visible(part.who), visible(part.what), part.end ? `ended by ${visible(part.end)}` : "",
		`${duration(part.end_ns - part.begin_ns)}, since ${duration(part.begin_ns - begin_ns)}`].filter(Boolean).join("\n");
}

function PathPicture({ path, frame }: { path: ResultPath; frame?: Frame }) {
	const { parts } = path;
	const begin_ns = frame?.begin_ns || parts[0].begin_ns;
	const whole_ns = frame?.begin_ns ? frame.whole_ns : parts[parts.length - 1].end_ns - begin_ns;
	const { ref, width } = useWidth<HTMLDivElement>();
	const { theme } = useContext(ThemeContext);
	const range = useRange() ?? { from_ns: 0, to_ns: whole_ns };
	const canvas = useRef<HTMLCanvasElement>(null);
	const rows = 1 + Math.min(DEPTH_MAX, parts.reduce((most, part) => Math.max(most, part.depth), 0));
	const onMove = (event: PointerEvent) => {
		const x = (event.clientX - canvas.current!.getBoundingClientRect().left) / width;
		const time_ns = begin_ns + range.from_ns + x * (range.to_ns - range.from_ns), part = parts[partAt(parts, time_ns)];
		if (part && part.begin_ns <= time_ns)
			showTip(tellOf(part, begin_ns), event.clientX, event.clientY);
	};

	useLayoutEffect(() => {
		if (width)
			draw(canvas.current!, parts, begin_ns, range, width, rows);
	}, [path, width, theme, range.from_ns, range.to_ns]);
	return <>
		<div class="tools">
			<RangeButtons whole_ns={whole_ns} />
			<CopyCsv of="the critical path" make={() => ({
				titles: ["begin (ns)", "end (ns)", "depth", "who", "kind", "what", "ended by"],
				rows: parts.map(p => [p.begin_ns - begin_ns, p.end_ns - begin_ns, p.depth, p.who, p.kind, p.what, p.end]),
			})} />
		</div>
		<div ref={ref} class="drawn" role="img" aria-label="The critical path over time; the table below has its sums">
			<canvas ref={canvas} data-tips="" style={{ width: `${width}px`, height: `${rows * ROW_PX}px` }}
				onPointerMove={onMove} onPointerLeave={hideTip} />
		</div>
	</>;
}

export function Path({ path, frame }: { path: ResultPath; frame?: Frame }) {
	const whole = useMemo(() => path.sums.reduce((sum, part) => sum + part.ns, 0), [path]);

	return <Section id="path" title="Critical path" isHeavy
		about="What the first thread was blocked on, moment by moment; lower rows are the threads that it waited for.">
		{path.parts.length > 0 && <PathPicture path={path} frame={frame} />}
		<p class="muted">In all {duration(whole)}{path.sums[0] ? `; most of it ${shareOf(Math.max(...path.sums.slice(0, 50).map(s => s.ns)), whole)} in one place` : ""}.</p>
		{path.left_out ? <p class="muted">{plural(path.left_out, "part")} of it, none longer than those drawn, are in the sums alone.</p> : null}
		<Table name="parts of the path" columns={sumColumns} rows={path.sums} sort={3} />
	</Section>;
}
