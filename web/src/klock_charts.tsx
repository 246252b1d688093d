// SPDX-License-Identifier: GPL-2.0-or-later
// How long waits for kernel locks were: a histogram of all or of one lock, and a box for each kind.
import { CopyCsv } from "./csv";
import { count, duration, plural } from "./format";
import { LogAxis, logScale } from "./log_axis";
import { useWidth } from "./page";
import type { Histogram, ReportKlockKind } from "./report";

const LEFT_PX = 52, RIGHT_PX = 22, BOTTOM_PX = 26, HEIGHT_PX = 210, BOX_ROW_PX = 34, BOX_LEFT_PX = 110;

/** On a logarithmic axis there is no 0. */
const SHORTEST_NS = 64;
const shown = (ns: number) => Math.max(SHORTEST_NS, ns);
const shortest = (kind: ReportKlockKind) => shown(kind.histogram[0]?.[0] ?? 0);

export function WaitHistogram({ of, histogram }: { of: string; histogram: Histogram }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const bins = histogram.filter(([, waits]) => waits > 0);
	const first = shown(bins[0]?.[0] ?? 1), last = shown(bins[bins.length - 1]?.[0] ?? 1);
	const scale = logScale(first, 2 * last, LEFT_PX, Math.max(1, width - LEFT_PX - RIGHT_PX));
	const most = Math.max(1, ...bins.map(([, waits]) => waits));
	const end = (i: number) => histogram[i + 1]?.[0] ?? 2 * shown(histogram[i][0]);
	const floor = HEIGHT_PX - BOTTOM_PX;

	return <div class="chart">
		<div class="tools"><h3>Waits by length: {of}</h3><CopyCsv of={`the histogram of ${of}`} make={() => ({
			titles: ["from (ns)", "waits"], rows: histogram })} /></div>
		<div ref={ref} class="drawn">
			<svg width={width} height={HEIGHT_PX} class="histogram" role="img" aria-label={`Histogram of waits for ${of}, on a logarithmic axis of time`}>
				<LogAxis scale={scale} y={floor} height={floor - 8} />
				{histogram.map(([from, waits], i) => {
					const height = (floor - 12) * waits / most, x = scale.x(shown(from));
					return waits ? <rect key={i} x={x} y={floor - height} width={Math.max(1, scale.x(end(i)) - x - 1)} height={height} class="c-lock"
						data-tip={`${duration(from)} to ${duration(end(i))}: ${plural(waits, "wait")}`} /> : null;
				})}
				<g data-tip={`up to ${plural(most, "wait")}`}>
					<text x={LEFT_PX - 6} y="18" text-anchor="end">{count(most)}</text>
					<text x={LEFT_PX - 6} y="33" text-anchor="end">waits</text>
					<text x={LEFT_PX - 6} y={floor} text-anchor="end">0</text>
				</g>
			</svg>
		</div>
	</div>;
}

export function KindBoxes({ kinds }: { kinds: ReportKlockKind[] }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const scale = logScale(Math.min(...kinds.map(shortest)), Math.max(...kinds.map(kind => kind.max_ns)), BOX_LEFT_PX,
		Math.max(1, width - BOX_LEFT_PX - RIGHT_PX));
	const height = kinds.length * BOX_ROW_PX;

	return <div class="chart">
		<div class="tools"><h3>Length of waits by kind</h3><CopyCsv of="the lengths of waits by kind" make={() => ({
			titles: ["kind", "waits", "min (ns)", "p25 (ns)", "p50 (ns)", "p75 (ns)", "max (ns)"],
			rows: kinds.map(k => [k.kind, k.waits, shortest(k), k.p25_ns, k.p50_ns, k.p75_ns, k.max_ns]) })} /></div>
		<div ref={ref} class="drawn">
			<svg width={width} height={height + BOTTOM_PX} class="boxes" role="img" aria-label="Shortest, quarter, median, three quarters and longest wait of each kind of lock">
				<LogAxis scale={scale} y={height} height={height} />
				{kinds.map((kind, i) => <g key={kind.kind} transform={`translate(0 ${i * BOX_ROW_PX})`}
					data-tip={`${kind.kind}: ${plural(kind.waits, "wait")}\nshortest from ${duration(shortest(kind))} on\na quarter up to ${
						duration(kind.p25_ns)}\np50 ${duration(kind.p50_ns)}\np75 ${duration(kind.p75_ns)}\nmax ${duration(kind.max_ns)}`}>
					<rect width={width} height={BOX_ROW_PX} class="hit" />
					<text x={BOX_LEFT_PX - 8} y="21" text-anchor="end">{kind.kind}</text>
					<line x1={scale.x(shortest(kind))} x2={scale.x(shown(kind.max_ns))} y1="16" y2="16" class="whisker" />
					<rect x={scale.x(shown(kind.p25_ns))} width={Math.max(2, scale.x(shown(kind.p75_ns)) - scale.x(shown(kind.p25_ns)))} y="7" height="18" class="box" />
					<line x1={scale.x(shown(kind.p50_ns))} x2={scale.x(shown(kind.p50_ns))} y1="7" y2="25" class="median" />
				</g>)}
			</svg>
		</div>
	</div>;
}
