// SPDX-License-Identifier: GPL-2.0-or-later
// How long waits are: of all a histogram of the time waited, and of each thread a box.
import { CopyCsv } from "../csv";
import { duration, plural, visible } from "../format";
import { LogAxis, logScale } from "../log_axis";
import { useWidth } from "../page";
import type { Length, WaitBox } from "./trace";

const HEIGHT_PX = 80, AXIS_PX = 22, SIDE_PX = 18, STEP = 2 ** 0.25, BOX_ROW_PX = 26, BOX_LEFT_PX = 190;

export function Lengths({ lengths }: { lengths: Length[] }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const most = Math.max(1, ...lengths.map(length => length.ns)), last = lengths[lengths.length - 1];
	const scale = logScale(lengths[0].up_to_ns / STEP, last.up_to_ns, SIDE_PX, Math.max(1, width - 2 * SIDE_PX));

	return <div ref={ref} class="drawn"><svg width={width} height={HEIGHT_PX + AXIS_PX} role="img" aria-label="Time waited, by the length of the waits">
		<LogAxis scale={scale} y={HEIGHT_PX} height={HEIGHT_PX} />
		{lengths.map(({ up_to_ns, count, ns }) => {
			const left = scale.x(up_to_ns / STEP), height = count ? Math.max(1, ns / most * (HEIGHT_PX - 4)) : 0;
			return <rect key={up_to_ns} x={left} y={HEIGHT_PX - height} width={Math.max(1, scale.x(up_to_ns) - left - 0.5)} height={height} class="c-lock"
				data-tip={`up to ${duration(up_to_ns)}: ${plural(count, "wait")}, ${duration(ns)} in all`} />;
		})}
	</svg></div>;
}

/** onChoose: of a thread by its number. */
export function LengthBoxes({ boxes, onChoose }: { boxes: WaitBox[]; onChoose: (thread: number) => void }) {
	const { ref, width } = useWidth<HTMLDivElement>(), height = boxes.length * BOX_ROW_PX, left = Math.min(BOX_LEFT_PX, width * 0.4);
	const scale = logScale(Math.min(...boxes.map(box => box.min_ns)), Math.max(...boxes.map(box => box.max_ns)), left, Math.max(1, width - left - SIDE_PX));

	return <div class="chart">
		<div class="tools"><h3>Length of waits by thread</h3><CopyCsv of="the lengths of waits by thread" make={() => ({
			titles: ["thread", "waits", "time (ns)", "min (ns)", "p25 (ns)", "p50 (ns)", "p75 (ns)", "max (ns)"],
			rows: boxes.map(box => [box.who, box.count, box.ns, box.min_ns, box.p25_ns, box.p50_ns, box.p75_ns, box.max_ns]) })} /></div>
		<div ref={ref} class="drawn">
			<svg width={width} height={height + AXIS_PX} class="boxes" role="img" aria-label="Shortest, quarter, median, three quarters and longest wait of each thread">
				<LogAxis scale={scale} y={height} height={height} />
				{boxes.map((box, i) => <g key={box.thread} transform={`translate(0 ${i * BOX_ROW_PX})`} onClick={() => onChoose(box.thread)}
					data-tip={`${visible(box.who)}: ${plural(box.count, "wait")}, ${duration(box.ns)} in all\nmin ${duration(box.min_ns)}\np25 ${duration(box.p25_ns)}\np50 ${
						duration(box.p50_ns)}\np75 ${duration(box.p75_ns)}\nmax ${duration(box.max_ns)}`}>
					<rect width={width} height={BOX_ROW_PX} class="hit" />
					<text x={left - 8} y="17" text-anchor="end">{visible(box.who)}</text>
					<line x1={scale.x(box.min_ns)} x2={scale.x(box.max_ns)} y1="13" y2="13" class="whisker" />
					<rect x={scale.x(box.p25_ns)} width={Math.max(2, scale.x(box.p75_ns) - scale.x(box.p25_ns))} y="5" height="16" class="box" />
					<line x1={scale.x(box.p50_ns)} x2={scale.x(box.p50_ns)} y1="5" y2="21" class="median" />
				</g>)}
			</svg>
		</div>
	</div>;
}
