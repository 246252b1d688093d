// SPDX-License-Identifier: GPL-2.0-or-later
// A logarithmic axis of time, for charts of waits.
import { duration } from "./format";

export interface LogScale {
	min: number;			// powers of ten
	max: number;
	x: (ns: number) => number;
}

export function logScale(ns_min: number, ns_max: number, left: number, width: number): LogScale {
	const min = Math.floor(Math.log10(Math.max(1, ns_min))), max = Math.max(min + 1, Math.ceil(Math.log10(Math.max(1, ns_max))));

	return { min, max, x: ns => left + width * (Math.log10(Math.max(1, ns)) - min) / (max - min) };
}

const LABEL_PX = 54;

export function LogAxis({ scale, y, height }: { scale: LogScale; y: number; height: number }) {
	const step = Math.max(1, Math.ceil(LABEL_PX / Math.max(1, scale.x(10 ** (scale.min + 1)) - scale.x(10 ** scale.min))));
	const ticks = Array.from({ length: scale.max - scale.min + 1 }, (_, i) => 10 ** (scale.min + i));

	return <g class="axis" aria-hidden="true">
		{ticks.map((ns, i) => <g key={ns} transform={`translate(${scale.x(ns)} 0)`}>
			<line y1={y - height} y2={y} />{i % step === 0 && <text y={y + 16} text-anchor="middle">{duration(ns).replace(".00", "").replace(".0", "")}</text>}
		</g>)}
	</g>;
}
